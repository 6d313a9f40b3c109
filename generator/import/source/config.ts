import { refuse } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { expandDl } from '../../../core/urls.ts'
import type { Version } from '../../../core/version.ts'

/** What an import takes out of the `config.json` of an index. */
export interface SourceConfig {
  readonly dl: string
}

/** Largest `config.json` that is read. */
export const CONFIG_MAX = 64 * 1024

/** Reads a `config.json` (specification A.1); refuses what is none. */
export function parseConfig(text: string, where: string): SourceConfig {
  const value = parseJson(text, where)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse('import_config_invalid', { where, reason: 'it is not a JSON object' })
  }
  const fields: Partial<Record<string, unknown>> = value
  const { dl } = fields
  if (typeof dl !== 'string' || dl === '')
    refuse('import_config_invalid', { where, reason: '`dl` is not a string' })
  return { dl }
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // Not the parser's own words: they quote the file, which may be none of the registry's.
    return refuse('import_config_invalid', { where, reason: 'it is not JSON' })
  }
}

/** Whether a `dl` is a web address. Nothing else is followed: it may come from a stranger. */
export function isWebTemplate(dl: string): boolean {
  return /^https?:\/\/[^/?#\s]/i.test(dl)
}

/**
 * Paths in a tree where the `.crate` of a `dl` may be: the path of the URL, or its end when the
 * tree is served below a prefix. Never a path that leaves the tree.
 */
export function pathsOf(
  dl: string,
  facts: { name: Name; version: Version; cksum: string },
): string[] {
  const path = expandDl(dl, facts)
    .replace(/[?#].*$/s, '')
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
  const parts = path.split('/').filter(part => part !== '')
  if (parts.some(part => part === '.' || part === '..' || /[\\\0:]/.test(part))) return []
  return parts.map((_, at) => parts.slice(at).join('/')).slice(0, 12)
}

/**
 * The index URLs of a tree, by where its `.crate` files are: in our layout (`{base}/crates/…` and
 * `{base}/index/`) or margo's (`{base}crates/…`, the index at the base).
 */
export function guessUrls(config: SourceConfig | null, indexAtRoot: boolean): string[] {
  if (!config || !isWebTemplate(config.dl)) return []
  const base = /^(.*?\/)crates\/[^/]*\{/.exec(config.dl)?.[1]
  if (base === undefined) return []
  return indexAtRoot ? [`sparse+${base}`] : [`sparse+${base}index/`, `${base}index.git`]
}
