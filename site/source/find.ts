import { textOf } from './content.ts'

export interface Hit {
  readonly path: string
  /** From 1. */
  readonly line: number
  /** The line around a match: the text before, the match, and the text after. */
  readonly parts: readonly [before: string, found: string, after: string]
}

export interface Matches {
  readonly hits: readonly Hit[]
  readonly isMore: boolean
}

const HITS_MAX = 500

const AROUND = 60

/** Finds a text in each line of all files. In lowercase, it also finds capital letters. */
export function findText(files: ReadonlyMap<string, Uint8Array>, query: string): Matches {
  const hits: Hit[] = []
  const literal = query.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  const pattern = new RegExp(literal, query === query.toLowerCase() ? 'gi' : 'g')
  for (const [path, bytes] of files) {
    const text = query === '' ? null : textOf(bytes)
    if (text === null) continue
    let [line, start] = [1, 0]
    for (const match of text.matchAll(pattern)) {
      if (hits.length === HITS_MAX) return { hits, isMore: true }
      for (let end = text.indexOf('\n', start); end >= 0 && end < match.index; ) {
        line++
        start = end + 1
        end = text.indexOf('\n', start)
      }
      const end = match.index + match[0].length
      const before = text.slice(Math.max(start, match.index - AROUND), match.index)
      const after = /^.*/.exec(text.slice(end, end + AROUND))?.[0] ?? ''
      hits.push({ path, line, parts: [before, match[0], after] })
    }
  }
  return { hits, isMore: false }
}
