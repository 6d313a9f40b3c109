import { formatNumber } from '../../../core/quantity.ts'
import type { Progress } from '../../projections/context.ts'
import type { Io } from './io.ts'

/** The pause between two lines in a pipe, and the time before the rest of a step is estimated. */
const LONG_MS = 10_000

/** The pause between two updates of the line on a terminal. */
const SHORT_MS = 100

/** Shows progress on stderr: on a terminal one changing line, else a line every ten seconds. */
export function progressLine(io: Io): Progress {
  const { transient } = io
  let last = transient ? 0 : io.now().getTime()
  let current: { readonly step: string; readonly since: number } | null = null
  return (step, done, total, share = done / total) => {
    const now = io.now().getTime()
    const isNew = current?.step !== step
    if (current === null || isNew) current = { step, since: now }
    if (now - last < (transient ? SHORT_MS : LONG_MS) && !(transient && isNew)) return
    last = now
    const line = `${step}${amount(done, total)}${done < total ? timeLeft(now - current.since, share) : ''}`
    if (transient) transient(line)
    else io.err(line)
  }
}

/** Returns for example `: 1,234 of 5,678`, or only the first number without a total. */
function amount(done: number, total: number): string {
  if (total > 0) return `: ${formatNumber(done)} of ${formatNumber(total)}`
  return done > 0 ? `: ${formatNumber(done)}` : ''
}

/** Returns for example `, about 3 min left`, once the step has taken ten seconds. */
function timeLeft(elapsed: number, share: number): string {
  if (elapsed < LONG_MS || share === 0) return ''
  const minutes = (elapsed * (1 / share - 1)) / 60_000
  if (minutes < 1) return ', less than 1 min left'
  const isLong = minutes >= 90
  return `, about ${Math.round(isLong ? minutes / 60 : minutes)} ${isLong ? 'h' : 'min'} left`
}
