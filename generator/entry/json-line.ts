import { refuse } from '../error.ts'
import type { Json } from './shape.ts'

/** Deepest nesting that is read; entries need four levels. */
const DEPTH_MAX = 32

/**
 * One line of JSON. Throws a `Refusal` where `JSON.parse` is too kind for an index: a key given twice in one object
 * (Cargo drops such a line) and bottomless nesting.
 */
export function parseJsonLine(line: string): Json {
  const depth = scanBrackets(line)
  if (depth > DEPTH_MAX) refuse('entry_too_deep', { max: DEPTH_MAX })
  let value: Json
  try {
    value = JSON.parse(line)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    refuse('entry_not_json', { reason: error.message })
  }
  const twice = repeatedKey(line)
  if (twice !== null) refuse('entry_key_twice', { key: twice })
  return value
}

function scanBrackets(line: string): number {
  let depth = 0
  let deepest = 0
  for (const token of tokens(line)) {
    if (token === '{' || token === '[') deepest = Math.max(deepest, ++depth)
    else if (token === '}' || token === ']') depth--
  }
  return deepest
}

/** The first key that its object holds twice, in a line known to be JSON. */
function repeatedKey(line: string): string | null {
  const open: (Set<string> | null)[] = []
  let text = ''
  for (const token of tokens(line)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (token !== ':') text = token
    else {
      const key = String(JSON.parse(text))
      const keys = open.at(-1)
      if (keys?.has(key)) return key
      keys?.add(key)
    }
  }
  return null
}

/** Brackets, colons and whole strings of a JSON text, in order; one pass, no regular expression to run away. */
function* tokens(line: string): Generator<string> {
  for (let i = 0; i < line.length; i++) {
    const sign = line[i] ?? ''
    if (sign === '"') {
      const start = i
      for (i++; i < line.length && line[i] !== '"'; i++) if (line[i] === '\\') i++
      yield line.slice(start, i + 1)
    } else if ('{}[]:'.includes(sign)) yield sign
  }
}
