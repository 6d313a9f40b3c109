export const DAYS_KEPT = 90

const DAY_MS = 86_400_000

/** Counts of consecutive days up to `last`; days are numbered from 1970-01-01 UTC. */
export interface DayCounts {
  readonly last: number
  /** Oldest first, at most `DAYS_KEPT`. */
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

/** Adds numbers by day; forgets days that are too old, and those after the day after `today`. */
export function addDays(
  days: DayCounts | null,
  more: ReadonlyMap<number, number>,
  today: number,
): DayCounts {
  const last = Math.min(today + 1, Math.max(days?.last ?? 0, ...more.keys()))
  const counts = [...daysUntil(days, last)]
  const first = last - DAYS_KEPT + 1
  for (const [day, n] of more) {
    if (day >= first && day <= last) counts[day - first] = (counts[day - first] ?? 0) + n
  }
  const start = counts.findIndex(n => n > 0)
  return { last, counts: start < 0 ? [] : counts.slice(start) }
}

/** Returns the numbers of the `DAYS_KEPT` days until the day `last`, oldest first. */
export function daysUntil(days: DayCounts | null, last: number): number[] {
  return Array.from({ length: DAYS_KEPT }, (_, at) => {
    const back = last - DAYS_KEPT + 1 + at - (days?.last ?? 0)
    return days?.counts[days.counts.length - 1 + back] ?? 0
  })
}

/** Returns the sum of the numbers of the `DAYS_KEPT` days until the day `last`. */
export function sumUntil(days: DayCounts | null, last: number): number {
  return daysUntil(days, last).reduce((sum, n) => sum + n, 0)
}
