export const DAYS_KEPT = 90

const DAY_MS = 86_400_000

/** Counts by day; days are numbered from 1970-01-01 UTC. */
export type DayCounts = ReadonlyMap<number, number>

/** Counts as they are stored: until the day `last`, oldest first; -n are n days without any. */
export interface PackedDays {
  readonly last: number
  readonly counts: readonly number[]
}

/** Returns the day of a time, in UTC. */
export function dayOf(time: Date): number {
  return Math.floor(time.getTime() / DAY_MS)
}

/** Returns the date of a day: `YYYY-MM-DD`. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Adds numbers by day; drops old days. Days after tomorrow stay: the clock may be behind. */
export function addDays(days: DayCounts | null, more: DayCounts, today: number): DayCounts {
  const sums = new Map(days)
  for (const [day, n] of more) sums.set(day, (sums.get(day) ?? 0) + n)
  const last = Math.max(...[...sums.keys()].filter(day => day <= today + 1))
  for (const day of sums.keys()) if (day <= last - DAYS_KEPT) sums.delete(day)
  return sums
}

/** Returns counts as they are stored. */
export function packDays(days: DayCounts): PackedDays {
  const counts: number[] = []
  const sorted = [...days].sort(([a], [b]) => a - b)
  let next = sorted[0]?.[0] ?? 0
  for (const [day, n] of sorted) {
    if (day - next > DAYS_KEPT) counts.push(next - day)
    else counts.push(...Array<number>(day - next).fill(0))
    counts.push(n)
    next = day + 1
  }
  return { last: next - 1, counts }
}

/** Reads counts as they are stored, also by older versions. */
export function unpackDays({ last, counts }: PackedDays): DayCounts {
  const days = new Map<number, number>()
  let day = last
  for (const n of counts.toReversed()) {
    if (n > 0) days.set(day, n)
    day -= Math.max(1, -n)
  }
  return days
}

/** Returns the numbers of the `DAYS_KEPT` days until the day `last`, oldest first. */
export function daysUntil(days: DayCounts | null, last: number): number[] {
  return Array.from({ length: DAYS_KEPT }, (_, at) => days?.get(last - DAYS_KEPT + 1 + at) ?? 0)
}

/** Returns the sum of the numbers of the `DAYS_KEPT` days until the day `last`. */
export function sumUntil(days: DayCounts | null, last: number): number {
  return daysUntil(days, last).reduce((sum, n) => sum + n, 0)
}
