import { refuse } from './error/error.ts'

const SECONDS = { d: 86_400, h: 3600, m: 60, s: 1 } as const

/** The time a duration (`90d`, `12h`, `30m`, `10s`) after `now`. */
export function after(now: Date, text: string): Date {
  return new Date(now.getTime() + seconds(text) * 1000)
}

/** The time a duration before `now`. */
export function before(now: Date, text: string): Date {
  return new Date(now.getTime() - seconds(text) * 1000)
}

function seconds(text: string): number {
  // At most about 100 years, so that the result is a valid date.
  const match = /^([1-9][0-9]{0,6})([dhms])$/.exec(text)
  const amount = match
    ? Number(match[1]) * SECONDS[match[2] as keyof typeof SECONDS]
    : Number.POSITIVE_INFINITY
  return amount <= 36_500 * SECONDS.d ? amount : refuse('duration_invalid', { text })
}
