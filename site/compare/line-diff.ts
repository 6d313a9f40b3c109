import { Matching, matchable } from './matching.ts'

export interface LineDiff {
  readonly added: number
  readonly removed: number
  /** False: too much differs to match all lines, so that the numbers are only upper bounds. */
  readonly isMatched: boolean
  /** Returns the changed lines with the lines around them. */
  hunks(): Hunk[]
}

/** A line of a difference: in both texts, only in the later, or only in the earlier one. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

export interface Hunk {
  /** Number of the first line in each text, from 1. */
  readonly before: number
  readonly after: number
  readonly lines: readonly DiffLine[]
}

const AROUND = 3

/** The maximum work for all comparisons of an instance: about a second of processor time. */
export const STEPS_MAX = 200_000_000

/** Compares texts line by line; all comparisons of one instance share a bound of work. */
export class LineDiffs {
  #steps: number

  constructor(steps = STEPS_MAX) {
    this.#steps = steps
  }

  /**
   * Compares two texts by Myers' algorithm in linear space, as `git diff` does. Where that is too
   * much work, it first matches lines that are unique in both texts.
   */
  compare(before: string, after: string): LineDiff {
    const [old, now] = [linesOf(before), linesOf(after)]
    const ids = new Map<string, number>()
    const idOf = (line: string): number => {
      const id = ids.get(line) ?? ids.size
      ids.set(line, id)
      return id
    }
    const [a, b] = [old.map(idOf), now.map(idOf)]
    const [kept, wanted] = [matchable(a, b), matchable(b, a)]
    const match = new Matching(
      kept.map(at => a[at] ?? 0),
      wanted.map(at => b[at] ?? 0),
      this.#steps,
    )
    match.run()
    this.#steps = match.steps
    const removed = new Uint8Array(a.length).fill(1)
    for (const [at, line] of kept.entries()) removed[line] = match.removed[at] ?? 1
    const added = new Uint8Array(b.length).fill(1)
    for (const [at, line] of wanted.entries()) added[line] = match.added[at] ?? 1
    const count = (changed: Uint8Array) => changed.reduce((sum, bit) => sum + bit, 0)
    return {
      added: count(added),
      removed: count(removed),
      isMatched: match.isMatched,
      hunks: () => hunksOf({ removed, added }, old, now),
    }
  }
}

/** Splits a text into lines. As in git, a last line differs with and without its line end. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  return last === '' ? lines : [...lines, `${last}${NO_END}`]
}

/** Ends the last line of a text that ends without a line end. */
export const NO_END = '\\ no newline at the end'

function hunksOf(
  { removed, added }: Pick<Matching, 'removed' | 'added'>,
  old: readonly string[],
  now: readonly string[],
): Hunk[] {
  const hunks: Hunk[] = []
  const isLeft = (a: number, b: number) => a < old.length || b < now.length
  for (let [a, b] = [0, 0]; isLeft(a, b); ) {
    if (!removed[a] && !added[b]) {
      a++
      b++
      continue
    }
    const lead = Math.min(AROUND, a)
    const start = { before: a - lead + 1, after: b - lead + 1 }
    const lines: DiffLine[] = old.slice(a - lead, a).map(text => ({ kind: 'same', text }))
    let same = 0
    while (isLeft(a, b) && same <= 2 * AROUND) {
      const kind = removed[a] ? 'removed' : added[b] ? 'added' : 'same'
      lines.push({ kind, text: (kind === 'added' ? now[b] : old[a]) ?? '' })
      same = kind === 'same' ? same + 1 : 0
      if (kind !== 'added') a++
      if (kind !== 'removed') b++
    }
    hunks.push({ ...start, lines: lines.slice(0, lines.length - Math.max(0, same - AROUND)) })
  }
  return hunks
}
