/** A reference measured in the same run; `value` is null where that was not possible. */
export interface Yardstick {
  readonly name: string
  readonly value: number | null
}

/** A bound of the ratio to the yardstick, or of the figure without one; empty for no goal. */
export type Goal = Readonly<Partial<Record<'atMost' | 'atLeast', number>>>

/** One figure and its goal. */
export interface Measurement {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly goal: Goal
  readonly yardstick: Yardstick | null
}

/** Returns a figure: `measured('wall', 3, 's', { atMost: 5 })`. */
export function measured(
  what: string,
  value: number,
  unit: string,
  goal: Goal = {},
  yardstick: Yardstick | null = null,
): Measurement {
  return { what, value, unit, goal, yardstick }
}

const HEAD = ['what', 'measured', 'yardstick in the same run', 'ratio', 'goal', 'met']

/** Prints figures as a table that can go into `docs/work/measurements.md` as it is. */
export function printTable(rows: readonly Measurement[]): void {
  const cells = [HEAD, HEAD.map(() => '-'), ...rows.filter(isTelling).map(cellsOf)]
  const widths = HEAD.map((_, at) => Math.max(...cells.map(row => row[at]?.length ?? 0)))
  for (const row of cells) {
    const padded = widths.map((width, at) =>
      row[at] === '-' ? '-'.repeat(width) : (row[at] ?? '').padEnd(width),
    )
    console.log(`| ${padded.join(' | ')} |`)
  }
}

/** Without its yardstick and a goal, a figure only repeats another row. */
function isTelling({ yardstick, goal }: Measurement): boolean {
  return yardstick?.value !== null || Object.keys(goal).length > 0
}

function cellsOf({ what, value, unit, yardstick, goal }: Measurement): string[] {
  const own = `${digits(value)} ${unit}`
  const [[bound, limit] = []] = Object.entries(goal)
  const sign = bound === 'atMost' ? '≤' : '≥'
  // As it is printed: nobody is to wonder why 2.00 is not at most 2.
  const isMet = (exact: number) => {
    const shown = Number(exact.toPrecision(3))
    if (limit === undefined) return ''
    return (bound === 'atMost' ? shown <= limit : shown >= limit) ? 'yes' : '**no**'
  }
  const wanted = limit === undefined ? '' : `${sign} ${limit} ${yardstick ? '×' : unit}`
  if (!yardstick) return [what, own, '', '', wanted, isMet(value)]
  if (yardstick.value === null) return [what, own, yardstick.name, '?', wanted, 'not measured']
  const ratio = value / yardstick.value
  const beside = `${yardstick.name}: ${digits(yardstick.value)} ${unit}`
  return [what, own, beside, `${ratio.toFixed(2)} ×`, wanted, isMet(ratio)]
}

/** Three digits that matter; large numbers with commas. */
function digits(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}
