import { refuse } from './error/error.ts'

const SECONDS = new Map(Object.entries({ d: 86_400, h: 3600, m: 60, s: 1 }))

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
  const amount = Number(digits) * (SECONDS.get(unit) ?? Number.NaN)
  return amount <= 36_500 * 86_400 ? amount : refuse('duration_invalid', { text })
}
