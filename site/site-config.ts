import type { Settings } from '../core/settings/settings.ts'

export interface SiteLink {
  readonly text: string
  /** Absolute URL, or a path below the base URL. */
  readonly url: string
}

export interface ForeignRegistry {
  /** Index URL, as dependencies name it. */
  readonly index: string
  readonly title: string
  /** URL of the page of a crate; `{crate}` stands for its name. */
  readonly page: string
}

export interface SiteConfig
  extends Pick<Settings['pages'], 'source' | 'images' | 'logo' | 'stylesheet' | 'footer' | 'docs'> {
  readonly title: string
  readonly description: string
  /** Public URL of the tree, without a slash at the end (`https://example.github.io/crates`). */
  readonly base: string
  /** Template of the URLs of `.crate` files. */
  readonly dl: string
  /** The other origins from which packages are loaded, as in a Content-Security-Policy. */
  readonly packages: readonly string[]
  /** Name of the registry in `.cargo/config.toml`, as in `--registry name`. */
  readonly registry: string
  /** What users paste into the configuration of Cargo. */
  readonly cargoConfig: string
  /** Whether a daemon accepts publishes and logins; if not, pages mention neither. */
  readonly api: boolean
  /** URL of the web API, without a slash at the end; the base URL if there is none. */
  readonly apiUrl: string
  /** Whether pages name owners and publishers. */
  readonly owners: boolean
  /** Whether there are feeds; a static tree has no times, so it has none. */
  readonly feeds: boolean
  /** Whether the registry counts or imports downloads; never in a static tree. */
  readonly downloads: boolean
  /** Whether a daemon has pages about upstreams. */
  readonly upstreams: boolean
  /** Whether readers need a token; such a registry asks search engines to stay away. */
  readonly private: boolean
  readonly links: readonly SiteLink[]
  readonly registries: readonly ForeignRegistry[]
  /** The categories that have pages; empty for all. */
  readonly categories: readonly string[]
  /** Whether crates here may depend on crates of crates.io. */
  readonly cratesIo: boolean
}
