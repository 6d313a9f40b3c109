import { visit } from 'jsonc-parser'
import { refuse } from '../error/error.ts'
import type { Json } from './entry.ts'

/** Deepest nesting that is read; entries need four levels. */
const DEPTH_MAX = 32

/**
 * Parses one line of JSON. Refuses two things that `JSON.parse` accepts: very deep nesting, and an
 * object with a key twice, for which Cargo drops the line.
 */
export function parseJsonLine(line: string): Json {
  const twice = repeatedKey(line)
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

/** The first key that an object has twice; refuses deep nesting. The text need not be JSON. */
function repeatedKey(line: string): string | null {
  const open: Set<string>[] = []
  let twice: string | null = null
  const enter = () => {
    if (open.push(new Set()) > DEPTH_MAX) refuse('entry_too_deep', { max: DEPTH_MAX })
  }
  const leave = () => {
    open.pop()
  }
  visit(line, {
    onObjectBegin: enter,
    onArrayBegin: enter,
    onObjectEnd: leave,
    onArrayEnd: leave,
    onObjectProperty: key => {
      const keys = open.at(-1)
      if (keys?.has(key)) twice ??= key
      keys?.add(key)
    },
  })
  return twice
}
