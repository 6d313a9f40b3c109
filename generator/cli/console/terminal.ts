import { type Paint, painter } from './color.ts'
import type { Io, Stream } from './io.ts'

export interface Streams {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly env: Io['env']
}

const CLEAR_LINE = '\r\x1b[K'

/**
 * Returns the environment of a command that prints to these streams. A line of `transient` is
 * removed before anything else is printed; it needs a terminal that knows escape sequences. Nothing
 * else controls the terminal, such as the name of a file that a stranger chose.
 */
export function terminalIo({ stdout, stderr, env }: Streams): Io {
  let shown = false
  const clear = () => {
    if (shown) stderr.write(CLEAR_LINE)
    shown = false
  }
  const printer = (stream: Stream) => {
    const paint = painter(stream, env)
    return (line: string) => {
      clear()
      stream.write(`${withColor(escaped(line), paint)}\n`)
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

/** Escapes control characters and marks that change the direction of text; valid in JSON, too. */
function escaped(line: string): string {
  return line.replace(
    /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function withColor(line: string, paint: Paint): string {
  const [, error = '', warning = '', rest = line] =
    /^(?:(error:)|(warning:))(.*)$/s.exec(line) ?? []
  return `${paint('red', error)}${paint('yellow', warning)}${rest}`
}
