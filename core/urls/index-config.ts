import { refuse } from '../error/error.ts'
import { isObject, jsonIn } from '../plain-data.ts'

export const CONFIG_MAX = 64 * 1024

/** Returns the `dl` of a `config.json` (specification A.1); refuses an invalid file. */
export function parseDl(text: string, where: string): string {
  const value = jsonIn(text)
  // Not the parser's message: it quotes the file, which may not even belong to a registry.
  if (value === undefined) refuse('import_config_invalid', { where, reason: 'it is not JSON' })
  if (!isObject(value))
    refuse('import_config_invalid', { where, reason: 'it is not a JSON object' })
  const { dl } = value
  if (typeof dl !== 'string' || dl === '')
    refuse('import_config_invalid', { where, reason: '`dl` is not a string' })
  return dl
}

/** Returns whether a `dl` is an HTTP URL. */
export function isWebTemplate(dl: string): boolean {
  return /^https?:\/\/[^/?#\s]/i.test(dl)
}
