import { refuse } from '../error/error.ts'
import type { Json } from './entry.ts'

/** Deepest nesting that is read; entries need four levels. */
const DEPTH_MAX = 32

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a

/**
 * Parses one line of JSON. Refuses what `JSON.parse` accepts but an index must not have: a key
 * twice in one object (Cargo drops such a line) and very deep nesting.
 */
export function parseJsonLine(line: string): Json {
  const twice = survey(line)
  let value: Json
  try {
    value = JSON.parse(line)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    refuse('entry_not_json', { reason: error.message })
  }
  if (twice !== null) refuse('entry_key_twice', { key: twice })
  return value
}

/**
 * Walks once over the text, JSON or not: refuses deep nesting, returns the first key that is twice
 * in its object.
 */
function survey(line: string): string | null {
  const open: (Set<string> | null)[] = []
  let key = ''
  let twice: string | null = null
  for (let i = 0; i < line.length; i++) {
    switch (line.charCodeAt(i)) {
      case QUOTE: {
        const end = endOfString(line, i)
        key = line.slice(i, end)
        i = end - 1
        break
      }
      case COLON: {
        const keys = open.at(-1)
        if (keys?.has(plain(key))) twice ??= plain(key)
        keys?.add(plain(key))
        break
      }
      case 0x7b: // {
        open.push(new Set())
        break
      case 0x5b: // [
        open.push(null)
        break
      case 0x7d: // }
      case 0x5d: // ]
        open.pop()
        break
    }
    if (open.length > DEPTH_MAX) refuse('entry_too_deep', { max: DEPTH_MAX })
  }
  return twice
}

/** Index after the string that begins at `start`, or after the text if it does not end. */
function endOfString(line: string, start: number): number {
  for (let end = line.indexOf('"', start + 1); end !== -1; end = line.indexOf('"', end + 1)) {
    let slashes = 0
    while (line.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return line.length
}

/** A key without quotes and escapes; unchanged if it is not a string. */
function plain(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return String(JSON.parse(quoted))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return quoted
  }
}
