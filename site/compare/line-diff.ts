import { diffArrays } from 'diff'

/** A line of a difference: in both texts, only in the later, or only in the earlier one. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Changed lines with the lines around them. */
export interface Hunk {
  /** Number of the first line in each text, from 1. */
  readonly before: number
  readonly after: number
  readonly lines: readonly DiffLine[]
}

/** The lines that differ between two texts. */
export interface LineDiff {
  readonly added: number
  readonly removed: number
  /** False: too much differs to match lines, so that all between the first and last is replaced. */
  readonly isMatched: boolean
  /** Calls for no work until the lines are read. */
  hunks(): Hunk[]
}

/** Number of unchanged lines shown around changed ones. */
const AROUND = 3

/** The most added and removed lines that are matched: memory grows with the square of the number. */
const EDITS_MAX = 1000

/** How much work all differences of a page may be: about a second of processor time. */
export const STEPS_MAX = 60_000_000

/** A part of two lists of lines that is equal, or that differs. */
interface Run {
  readonly kind: DiffLine['kind']
  readonly count: number
}

/** Compares texts line by line; all comparisons of one instance share a bound of work. */
export class LineDiffs {
  #steps: number

  constructor(steps = STEPS_MAX) {
    this.#steps = steps
  }

  /** Compares two texts by Myers' algorithm, as far as the bounds allow. */
  compare(before: string, after: string): LineDiff {
    const [old, now] = [linesOf(before), linesOf(after)]
    const shortest = Math.min(old.length, now.length)
    let head = 0
    while (head < shortest && old[head] === now[head]) head++
    let tail = 0
    while (tail < shortest - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
    const middle = this.#match(
      old.slice(head, old.length - tail),
      now.slice(head, now.length - tail),
    )
    const replaced: Run[] = [
      { kind: 'removed', count: old.length - head - tail },
      { kind: 'added', count: now.length - head - tail },
    ]
    const runs: Run[] = [
      { kind: 'same', count: head },
      ...(middle ?? replaced),
      { kind: 'same', count: tail },
    ]
    const count = (kind: Run['kind']) =>
      runs.reduce((sum, one) => sum + (one.kind === kind ? one.count : 0), 0)
    return {
      added: count('added'),
      removed: count('removed'),
      isMatched: middle !== null,
      hunks: () => hunksOf(runs, old, now),
    }
  }

  /** Matches lines; null if more than the bounds allow would have to be tried. */
  #match(old: readonly string[], now: readonly string[]): Run[] | null {
    if (old.length === 0 || now.length === 0)
      return [
        { kind: 'removed', count: old.length },
        { kind: 'added', count: now.length },
      ]
    const total = old.length + now.length
    const maxEditLength = Math.min(EDITS_MAX, Math.floor(this.#steps / total))
    if (maxEditLength < 1) return null
    const ids = new Map<string, number>()
    const idOf = (line: string): number => {
      const id = ids.get(line) ?? ids.size
      ids.set(line, id)
      return id
    }
    const found = diffArrays(old.map(idOf), now.map(idOf), { maxEditLength })
    const kindOf = (one: { added: boolean; removed: boolean }) =>
      one.added ? 'added' : one.removed ? 'removed' : 'same'
    const runs = found?.map(one => ({ kind: kindOf(one), count: one.count }) satisfies Run)
    const edits = runs?.reduce((sum, one) => sum + (one.kind === 'same' ? 0 : one.count), 0)
    this.#steps -= (edits ?? maxEditLength) * total
    return runs ?? null
  }
}

/** Splits a text into lines; the end of the last line makes no further one. */
export function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function hunksOf(runs: readonly Run[], old: readonly string[], now: readonly string[]): Hunk[] {
  const hunks: Hunk[] = []
  let lines: DiffLine[] = []
  let [before, after] = [0, 0]
  let start = { before: 1, after: 1 }
  const same = (from: number, to: number) =>
    now.slice(from, to).map(text => ({ kind: 'same', text }) as const)
  const close = () => {
    if (lines.length > 0) hunks.push({ ...start, lines })
    lines = []
  }
  const real = runs.filter(one => one.count > 0)
  for (const [at, { kind, count }] of real.entries()) {
    if (kind === 'removed')
      for (let more = 0; more < count; more++) lines.push({ kind, text: old[before + more] ?? '' })
    if (kind === 'added')
      for (let more = 0; more < count; more++) lines.push({ kind, text: now[after + more] ?? '' })
    const isShort = count <= (at === real.length - 1 ? AROUND : 2 * AROUND)
    if (kind === 'same' && lines.length > 0 && isShort) lines.push(...same(after, after + count))
    else if (kind === 'same') {
      const shown = Math.min(AROUND, count)
      if (lines.length > 0) lines.push(...same(after, after + shown))
      close()
      start = { before: before + count - shown + 1, after: after + count - shown + 1 }
      lines = same(after + count - shown, after + count)
    }
    if (kind !== 'added') before += count
    if (kind !== 'removed') after += count
  }
  if (lines.some(one => one.kind !== 'same')) close()
  return hunks
}
