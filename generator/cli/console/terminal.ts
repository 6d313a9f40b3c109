import { WriteStream } from 'node:tty'
import { formatNumber } from '../../../core/quantity.ts'
import type { Progress } from '../../projections/context.ts'
import type { Io, Stream } from './io.ts'

const CLEAR_LINE = '\r\x1b[K'

/**
 * Returns the environment of a command that prints to these streams. A line of `transient` is
 * removed before anything else is printed; it needs a terminal that knows escape sequences. Nothing
 * else controls the terminal, such as the name of a file that a stranger chose.
 */
export function terminalIo({
  stdout,
  stderr,
  env,
}: Pick<Io, 'env' | 'stderr'> & { readonly stdout: Stream }): Io {
  let shown = false
  const clear = () => {
    if (shown) stderr.write(CLEAR_LINE)
    shown = false
  }
  const printer = (stream: Stream) => {
    const paint = painter(stream, env)
    return (line: string) => {
      clear()
      const text = escaped(line)
      const [, error = '', warning = '', rest = text] =
        /^(?:(error:)|(warning:))(.*)$/s.exec(text) ?? []
      stream.write(`${paint('red', error)}${paint('yellow', warning)}${rest}\n`)
    }
  }
  const transient = (line: string) => {
    clear()
    if (line === '') return
    // A wrapped line could not be removed.
    stderr.write(escaped(line).slice(0, (stderr.columns || 80) - 1))
    shown = true
  }
  return {
    env,
    now: () => new Date(),
    out: printer(stdout),
    err: printer(stderr),
    transient: stderr.isTTY === true && env.TERM !== 'dumb' ? transient : null,
    stderr,
  }
}

type Color = 'dim' | 'red' | 'yellow'

/** Codes of `Select Graphic Rendition` (ECMA-48). */
const CODES: Readonly<Record<Color, number>> = { dim: 2, red: 31, yellow: 33 }

/** Shows a text in a color, or returns it as it is. */
export type Paint = (color: Color, text: string) => string

/** Colors terminals unless `NO_COLOR` or `TERM` forbid it, other streams with `FORCE_COLOR`. */
export function painter(stream: Pick<Stream, 'isTTY'>, env: Io['env']): Paint {
  const { NO_COLOR, FORCE_COLOR } = env
  const isWanted = FORCE_COLOR ? !NO_COLOR : stream.isTTY === true
  // Node's rules; they need no terminal.
  const hasColors = isWanted && WriteStream.prototype.hasColors(16, env)
  return (color, text) => (hasColors && text !== '' ? `\x1b[${CODES[color]}m${text}\x1b[0m` : text)
}

/** Escapes control characters and marks that change the direction of text; valid in JSON, too. */
function escaped(line: string): string {
  return line.replace(
    /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

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
