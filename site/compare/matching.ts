/** The most edits that are looked for in two ranges of lines; the work grows with their square. */
const EDITS_MAX = 4000

/** The number of lines around a frequent line that are looked at. */
const WINDOW = 100

/**
 * Returns the lines of a text that may be matched: not lines that the other text lacks, nor
 * frequent lines such as `}` among lines that it lacks (git's `xdl_cleanup_records`).
 */
export function matchable(lines: readonly number[], others: readonly number[]): number[] {
  const there = new Map<number, number>()
  for (const line of others) there.set(line, (there.get(line) ?? 0) + 1)
  const most = Math.min(2 ** Math.ceil(Math.log2(lines.length + 1) / 2), 1024)
  const kinds = lines.map(line => {
    const n = there.get(line) ?? 0
    return n === 0 ? 'lonely' : n >= most ? 'frequent' : 'good'
  })
  const around = (at: number, step: 1 | -1) => {
    let [lonely, frequent] = [0, 0]
    for (let far = 1; far <= WINDOW; far++) {
      const kind = kinds[at + step * far]
      if (kind === 'lonely') lonely++
      else if (kind === 'frequent') frequent++
      else break
    }
    return { lonely, frequent }
  }
  const isStray = (at: number) => {
    const [above, below] = [around(at, -1), around(at, 1)]
    const frequent = above.frequent + below.frequent + 2
    const isBetween = above.lonely > 0 && below.lonely > 0
    return isBetween && 3 * frequent < above.lonely + below.lonely
  }
  return kinds.flatMap((kind, at) =>
    kind === 'good' || (kind === 'frequent' && !isStray(at)) ? [at] : [],
  )
}

/** Ranges of lines in both texts, without their ends. */
type Box = readonly [a: number, aEnd: number, b: number, bEnd: number]

/** Finds the lines, given as numbers, that only one of two texts has. */
export class Matching {
  readonly removed: Uint8Array
  readonly added: Uint8Array
  isMatched = true
  steps: number
  readonly #a: readonly number[]
  readonly #b: readonly number[]
  /** The furthest points of each diagonal, from the beginning and back from the end. */
  readonly #down: Int32Array
  readonly #up: Int32Array

  constructor(a: readonly number[], b: readonly number[], steps: number) {
    this.#a = a
    this.#b = b
    this.steps = steps
    this.removed = new Uint8Array(a.length)
    this.added = new Uint8Array(b.length)
    const diagonals = Math.min(EDITS_MAX, a.length + b.length) + 4
    this.#down = new Int32Array(diagonals)
    this.#up = new Int32Array(diagonals)
  }

  run(): void {
    const boxes: Box[] = [[0, this.#a.length, 0, this.#b.length]]
    for (let box = boxes.pop(); box; box = boxes.pop()) boxes.push(...this.#split(box))
  }

  /** Marks the differences in a box, or returns the parts of it that remain. */
  #split(box: Box): Box[] {
    let [a, aEnd, b, bEnd] = box
    while (a < aEnd && b < bEnd && this.#a[a] === this.#b[b]) {
      a++
      b++
    }
    while (a < aEnd && b < bEnd && this.#a[aEnd - 1] === this.#b[bEnd - 1]) {
      aEnd--
      bEnd--
    }
    if (a < aEnd && b < bEnd) {
      const rest: Box = [a, aEnd, b, bEnd]
      const middle = this.#middle(rest)
      if (middle) {
        const [x, y] = middle
        return [
          [a, x, b, y],
          [x, aEnd, y, bEnd],
        ]
      }
      const parts = this.#anchored(rest)
      if (parts) return parts
      this.isMatched = false
    }
    this.removed.fill(1, a, aEnd)
    this.added.fill(1, b, bEnd)
    return []
  }

  /**
   * Returns a point on a shortest way through a box, where the ways from both of its ends meet
   * (Myers' middle snake); null if that takes too many edits.
   */
  #middle([a, aEnd, b, bEnd]: Box): [x: number, y: number] | null {
    const [n, m] = [aEnd - a, bEnd - b]
    const zero = this.#down.length >> 1
    const most = Math.min(zero - 1, Math.sqrt(Math.max(0, this.steps)))
    const [x, y] = [(at: number) => this.#a[a + at], (at: number) => this.#b[b + at]]
    for (let d = 0; d < most; d++) {
      for (const [ways, others, isDown] of [
        [this.#down, this.#up, true],
        [this.#up, this.#down, false],
      ] as const) {
        for (let k = -d; k <= d; k += 2) {
          const start = furthest(ways, zero, d, k, n, m)
          let at = start
          if (isDown) while (at >= 0 && at < n && at - k < m && x(at) === y(at - k)) at++
          else while (at >= 0 && at < n && at - k < m && x(n - 1 - at) === y(m - 1 - at + k)) at++
          ways[zero + k] = at
          this.steps -= 1 + at - start
          const [other, isOdd] = [n - m - k, (n - m) % 2 !== 0]
          if (start < 0 || isOdd !== isDown || Math.abs(other) > (isDown ? d - 1 : d)) continue
          const met = others[zero + other] ?? -1
          if (met >= 0 && at + met >= n)
            return isDown ? [a + start, b + start - k] : [aEnd - start, bEnd - start + k]
        }
      }
    }
    return null
  }

  /** Splits a box at lines that are unique in both texts, as far as they keep their order. */
  #anchored([a, aEnd, b, bEnd]: Box): Box[] | null {
    const there = onlyOnes(this.#b, b, bEnd)
    const pairs: [x: number, y: number][] = []
    for (const [line, x] of onlyOnes(this.#a, a, aEnd)) {
      const y = there.get(line) ?? -1
      if (x >= 0 && y >= 0) pairs.push([x, y])
    }
    if (pairs.length === 0) return null
    const boxes: Box[] = []
    let [x, y] = [a, b]
    for (const [nextX, nextY] of rising(pairs)) {
      boxes.push([x, nextX, y, nextY])
      x = nextX + 1
      y = nextY + 1
    }
    return [...boxes, [x, aEnd, y, bEnd]]
  }
}

/** Returns how far a diagonal is reached with one more edit; -1 if it leaves the box. */
function furthest(
  ways: Int32Array,
  zero: number,
  d: number,
  k: number,
  n: number,
  m: number,
): number {
  if (d === 0) return 0
  const left = k === -d ? -1 : (ways[zero + k - 1] ?? -1)
  const above = k === d ? -1 : (ways[zero + k + 1] ?? -1)
  return Math.max(left >= 0 && left < n ? left + 1 : -1, above >= 0 && above - k <= m ? above : -1)
}

/** Returns the position of each line of a range, or -1 if it occurs more than once. */
function onlyOnes(lines: readonly number[], from: number, to: number): Map<number, number> {
  const positions = new Map<number, number>()
  for (let at = from; at < to; at++) {
    const line = lines[at] ?? -1
    positions.set(line, positions.has(line) ? -1 : at)
  }
  return positions
}

/** Returns a longest part of pairs, which rise in `x`, that also rise in `y`. */
function rising(pairs: readonly [x: number, y: number][]): [x: number, y: number][] {
  const ends: number[] = []
  const before: number[] = []
  for (const [at, [, y]] of pairs.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < y) low = middle + 1
      else high = middle
    }
    before[at] = ends[low - 1] ?? -1
    ends[low] = at
  }
  const chain: [x: number, y: number][] = []
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) chain.push(pairs[at] ?? [0, 0])
  return chain.reverse()
}
