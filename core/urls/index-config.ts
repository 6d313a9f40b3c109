import { refuse } from '../error/error.ts'

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
