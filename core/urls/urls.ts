// core/urls: The addresses of a registry. Index files, commands and daemon call it; it never
// contacts one.
import { CRATES_FOLDER } from '../paths/crates.ts'
import { GIT_INDEX_FOLDER, INDEX_FOLDER } from '../paths/tree.ts'

export interface RegistryUrls {
  /** Without a trailing slash. */
  readonly base: string
  readonly dl: string
  /** Null for a registry without a web API. */
  readonly api: string | null
  /** With the prefix `sparse+` and the trailing slash that Cargo requires. */
  readonly sparseIndex: string
  readonly gitIndex: string
  readonly own: ReadonlySet<string>
}

/** Returns the URLs by the `[registry]` settings; `fallbackBase` is used if no base URL is set. */
export function registryUrls(
  settings: Readonly<{
    base_url: string | null
    api: string
    dl: string
    aliases: readonly string[]
  }>,
  fallbackBase: string,
): RegistryUrls {
  const base = (settings.base_url ?? fallbackBase).replace(/\/+$/, '')
  const sparseIndex = `sparse+${base}/${INDEX_FOLDER}/`
  const dl = `${base}/${CRATES_FOLDER}/{crate}/{crate}-{version}.crate`
  const gitIndex = `${base}/${GIT_INDEX_FOLDER}`
  return {
    base,
    // Cargo appends a path to a `dl` without markers, so it must not end with a slash.
    dl: settings.dl === 'auto' ? dl : settings.dl.replace(/^([^{]*?)\/+$/, '$1'),
    api: settings.api === 'none' ? null : settings.api === 'auto' ? base : settings.api,
    sparseIndex,
    gitIndex,
    own: new Set([sparseIndex, gitIndex, ...settings.aliases]),
  }
}

/** Returns the base URL of a registry whose `dl` is "auto"; null for any other `dl`. */
export function baseOfDl(dl: string): string | null {
  const end = `/${CRATES_FOLDER}/{crate}/{crate}-{version}.crate`
  return dl.endsWith(end) ? dl.slice(0, -end.length) : null
}

/**
 * Hides the credentials in URLs: passwords, even if they are not percent-encoded, and usernames,
 * because they may be tokens. The username of an ssh URL remains. Each word is cut at its last `@`:
 * a pattern that never finds one would take quadratic time.
 */
export function withoutCredentials(text: string): string {
  const credentials = /\b([a-z][a-z0-9+.-]{0,60}):\/\/((?:[^/]*|[^/:]*:(?!\d+\/).*)@)/gi
  return text.replace(/\S+/g, word => {
    const end = word.lastIndexOf('@') + 1
    const hidden = word
      .slice(0, end)
      .replace(credentials, (whole: string, scheme: string, user: string) =>
        /ssh$/i.test(scheme) && !user.includes(':') ? whole : `${scheme}://…@`,
      )
    return hidden + word.slice(end)
  })
}
