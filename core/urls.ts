import { lowerPrefix, type Name, prefix } from './name.ts'
import { CRATES_FOLDER } from './paths/crates.ts'
import { GIT_INDEX_FOLDER, INDEX_FOLDER } from './paths/index-files.ts'
import type { Version } from './version.ts'

/** The index URL of crates.io in every entry, even for users of its sparse index. */
export const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'

/** The URLs of one registry. */
export interface RegistryUrls {
  /** Without a trailing slash. */
  readonly base: string
  readonly dl: string
  /** Null for a registry without a web API. */
  readonly api: string | null
  /** With `sparse+`, and with the trailing slash that Cargo requires. */
  readonly sparseIndex: string
  readonly gitIndex: string
  /** Every index URL of this registry. */
  readonly own: ReadonlySet<string>
}

/** The settings of `[registry]` that determine the URLs. */
export interface AddressSettings {
  readonly base_url: string | null
  readonly api: string
  readonly dl: string
  readonly aliases: readonly string[]
}

/** All URLs of a registry; `fallbackBase` is used when no base URL is set. */
export function registryUrls(settings: AddressSettings, fallbackBase: string): RegistryUrls {
  const base = (settings.base_url ?? fallbackBase).replace(/\/+$/, '')
  const sparseIndex = `sparse+${base}/${INDEX_FOLDER}/`
  const gitIndex = `${base}/${GIT_INDEX_FOLDER}`
  return {
    base,
    dl: settings.dl === 'auto' ? defaultDl(base) : settings.dl,
    api:
      settings.api === 'none'
        ? null
        : settings.api === 'auto'
          ? base
          : settings.api.replace(/\/+$/, ''),
    sparseIndex,
    gitIndex,
    own: new Set([sparseIndex, gitIndex, ...settings.aliases]),
  }
}

/** Whether `text` has the form of an index URL. */
export function isIndexUrl(text: string): boolean {
  return /^[a-z][a-z+.-]*:\/\/\S+$/i.test(text)
}

/** The default `dl` template below a base URL. */
export function defaultDl(baseUrl: string): string {
  return `${baseUrl}/${CRATES_FOLDER}/{crate}/{crate}-{version}.crate`
}

/** The values for the markers of a `dl` template. */
export interface DownloadFacts {
  readonly name: Name
  readonly version: Version
  readonly cksum: string
}

/**
 * The download URL of a version: replaces the five markers of the template; appends
 * `/{crate}/{version}/download` to one without markers (specification A.1, Cargo's `download.rs`).
 */
export function expandDl(template: string, { name, version, cksum }: DownloadFacts): string {
  const markers = new Map<string, string>([
    ['{crate}', name],
    ['{version}', version],
    ['{prefix}', prefix(name)],
    ['{lowerprefix}', lowerPrefix(name)],
    ['{sha256-checksum}', cksum],
  ])
  const hasMarker = [...markers.keys()].some(marker => template.includes(marker))
  let url = hasMarker ? template : `${template}/{crate}/{version}/download`
  for (const [marker, value] of markers) url = url.replaceAll(marker, () => value)
  return url
}

/** The lines for a user's `.cargo/config.toml`. */
export function cargoConfig(name: string, urls: RegistryUrls, authRequired: boolean): string {
  const block = `[registries.${name}]\nindex = "${urls.sparseIndex}"\n`
  if (!authRequired) return block
  return `${block}credential-provider = "cargo:token"\n`
}

/**
 * Hides the credentials in URLs: passwords, even if they are not percent-encoded, and usernames,
 * because they may be tokens. The username of an ssh URL remains.
 */
export function withoutCredentials(text: string): string {
  const credentials = /\b([a-z][a-z0-9+.-]*):\/\/((?:[^\s/]*|[^\s/:]*:(?!\d+\/)\S*)@)/gi
  return text.replace(credentials, (whole: string, scheme: string, user: string) =>
    /ssh$/i.test(scheme) && !user.includes(':') ? whole : `${scheme}://…@`,
  )
}
