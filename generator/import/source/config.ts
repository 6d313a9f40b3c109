import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { refuse } from '../../../core/error/error.ts'
import { readText } from '../../places/disk/files.ts'

/** The largest `config.json` that is read, in bytes. */
export const CONFIG_MAX = 64 * 1024

/** Returns the `dl` of a `config.json` (specification A.1); refuses an invalid file. */
export function parseDl(text: string, where: string): string {
  const value = jsonIn(text)
  // Not the parser's message: it quotes the file, which may not even belong to a registry.
  if (value === undefined) refuse('import_config_invalid', { where, reason: 'it is not JSON' })
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse('import_config_invalid', { where, reason: 'it is not a JSON object' })
  const dl = 'dl' in value ? value.dl : null
  if (typeof dl !== 'string' || dl === '')
    refuse('import_config_invalid', { where, reason: '`dl` is not a string' })
  return dl
}

/** Returns the `dl` of an index in a folder; null when it has no `config.json`. */
export async function readDl(index: string): Promise<string | null> {
  const path = join(index, 'config.json')
  const text = await readText(path)
  return text === null ? null : parseDl(text, path)
}

/** Returns the value of a JSON text; undefined for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns whether a `dl` is an HTTP URL. */
export function isWebTemplate(dl: string): boolean {
  return /^https?:\/\/[^/?#\s]/i.test(dl)
}

/** Returns whether a `dl` is a file URL of this machine. */
export function isFileTemplate(dl: string): boolean {
  if (!/^file:\/\/(?:localhost)?\/[^/]/i.test(dl)) return false
  try {
    return !fileURLToPath(dl).includes('\0')
  } catch {
    // Its escapes mean characters that no path can contain.
    return false
  }
}

/**
 * Guesses the index URLs of a tree from its `dl`: in Plimsoll's layout (`{base}/crates/…` and
 * `{base}/index/`) or margo's (`{base}crates/…`, with the index at the base).
 */
export function guessUrls(dl: string | null, indexAtRoot: boolean): string[] {
  if (dl === null || !isWebTemplate(dl)) return []
  const base = /^(.*?\/)crates\/[^/]*\{/.exec(dl)?.[1]
  if (base === undefined) return []
  return indexAtRoot ? [`sparse+${base}`] : [`sparse+${base}index/`, `${base}index.git`]
}
