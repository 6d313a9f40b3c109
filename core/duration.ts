import { refuse } from './error/error.ts'

const SECONDS = { d: 86_400, h: 3600, m: 60, s: 1 } as const

/** The time that lies a duration (`90d`, `12h`, `30m`, `10s`) after another. */
export function after(now: Date, text: string): Date {
  return new Date(now.getTime() + seconds(text) * 1000)
}

/** The time that lies a duration before another. */
export function before(now: Date, text: string): Date {
  return new Date(now.getTime() - seconds(text) * 1000)
}

function seconds(text: string): number {
  // At most a hundred years or so: what lies beyond is no date that can be written.
  const match = /^([1-9][0-9]{0,6})([dhms])$/.exec(text)
  const amount = match
    ? Number(match[1]) * SECONDS[match[2] as keyof typeof SECONDS]
    : Number.POSITIVE_INFINITY
  return amount <= 36_500 * SECONDS.d ? amount : refuse('duration_invalid', { text })
}
