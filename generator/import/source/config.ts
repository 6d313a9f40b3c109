import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isWebTemplate, parseDl } from '../../../core/urls/index-config.ts'
import { readText } from '../../places/disk/files.ts'

/** Returns the `dl` of an index in a folder; null when it has no `config.json`. */
export async function readDl(index: string): Promise<string | null> {
  const path = join(index, 'config.json')
  const text = await readText(path)
  return text === null ? null : parseDl(text, path)
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
