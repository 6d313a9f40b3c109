/** A link of the header or footer. */
export interface SiteLink {
  readonly text: string
  /** Absolute URL, or a path below the base. */
  readonly url: string
}

/** Another registry that dependencies come from, so that they can be linked. */
export interface ForeignRegistry {
  /** Index URL as it stands in a dependency. */
  readonly index: string
  readonly title: string
  /** Page of a crate there; `{crate}` stands for its name. Null when the registry has no pages. */
  readonly page: string | null
}

/** What an operator says about the registry as a whole; every view takes it. */
export interface SiteConfig {
  readonly title: string
  readonly description: string
  /** Public URL of the tree, without a slash at the end; may have a path (`https://example.github.io/crates`). */
  readonly base: string
  /** Name of the registry in `.cargo/config.toml`, the word after `--registry`. */
  readonly registry: string
  /** Index URL as Cargo takes it (`sparse+https://…/index/`). */
  readonly index: string
  /** Whether a daemon takes publishes and logins; without one, pages show neither. */
  readonly api: boolean
  /** Whether there is a search page with its shards. */
  readonly search: boolean
  /** Whether there is a source browser. */
  readonly source: boolean
  /** Whether pages name the owners of a crate; who may not list them may not read them there, either. */
  readonly owners: boolean
  /** Whether there are feeds; a tree that knows no times has none. */
  readonly feeds: boolean
  /** Whether readers need a token; such a registry asks search engines to stay away. */
  readonly private: boolean
  /** Whether images of other hosts are loaded in READMEs, or shown as a link. */
  readonly images: 'link' | 'load'
  /** The operator's own logo and stylesheet: URLs or paths below the base. */
  readonly logo: string | null
  readonly stylesheet: string | null
  readonly links: readonly SiteLink[]
  readonly footer: string | null
  readonly registries: readonly ForeignRegistry[]
}

/** A `SiteConfig` with every choice at its default. */
export function siteDefaults(
  given: Pick<SiteConfig, 'base' | 'index'> & Partial<SiteConfig>,
): SiteConfig {
  return {
    title: 'Plimsoll',
    description: 'A Cargo registry.',
    registry: 'plimsoll',
    api: false,
    search: true,
    source: true,
    owners: true,
    feeds: true,
    private: false,
    images: 'link',
    logo: null,
    stylesheet: null,
    links: [],
    footer: null,
    registries: [],
    ...given,
  }
}
