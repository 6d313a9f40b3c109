import { refuse } from './error/error.ts'
import { DURATIONS } from './quantity.ts'

/** Formats `time` plus `later` seconds for records and index: UTC, as `2026-11-20T12:00:00Z`. */
export function timestamp(time: Date, later = 0): string {
  return `${new Date(time.getTime() + later * 1000).toISOString().slice(0, 19)}Z`
}

/** By how many seconds clocks may differ. */
const SKEW = 3600

/** Returns the latest time that can be stored by now: one after it is of a clock that was wrong. */
export function latest(now: Date, seconds = 0): string {
  return timestamp(now, seconds + SKEW)
}

/** Formats a time in milliseconds since 1970 in the same way; one after the year 9999 as its end. */
export function untilText(ms: number): string {
  return timestamp(new Date(Math.min(ms, Date.UTC(9999, 11, 31, 23, 59, 59))))
}

/** Whether Cargo accepts `value` as a `pubtime`; any other makes a version unusable. */
export function isPubtime(value: string): boolean {
  // Cargo accepts leap seconds, `Date` does not.
  const text = value.replace(/:60Z$/, ':59Z')
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return false
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && timestamp(time) === text
}

/** Returns the time that is a duration (`90d`, `12h`, `30m`, `10s`) after `now`. */
export function after(now: Date, text: string): Date {
  return new Date(now.getTime() + seconds(text) * 1000)
}

/** Returns the time that is a duration before `now`. */
export function before(now: Date, text: string): Date {
  return new Date(now.getTime() - seconds(text) * 1000)
}

function seconds(text: string): number {
  // At most about 100 years, so that the result is a valid date.
  const [, digits, unit = ''] = /^([1-9][0-9]{0,6})([dhms])$/.exec(text) ?? []
  const amount = Number(digits) * (DURATIONS[unit] ?? Number.NaN)
  return amount <= 36_500 * 86_400 ? amount : refuse('duration_invalid', { text })
}
