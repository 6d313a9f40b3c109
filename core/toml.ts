import { parse, TomlError, type TomlValue } from 'smol-toml'
import { isObject } from './plain-data.ts'

/** Whether a value is a table. */
export function isTable(value: unknown): value is { [key: string]: TomlValue } {
  return isObject(value) && !(value instanceof Date)
}

/** Said of what the parser calls "trying to redefine an already defined table or value". */
const THERE = 'the file has this table or key already, so change it there'

/** Parses a TOML document; `otherwise` is told in a line what is wrong with it, and where. */
export function parseToml<T>(
  text: string,
  otherwise: (reason: string, at: TomlError) => T,
  options: Parameters<typeof parse>[1] = {},
): object | T {
  try {
    return parse(text.replace(/^\uFEFF/, ''), options)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [first = ''] = error.message.split('\n')
    const reason = first.replace(/^Invalid TOML document: /, '').replace(/^trying to .*/, THERE)
    return otherwise(reason, error)
  }
}
