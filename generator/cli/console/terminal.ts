import type { Io } from '../io.ts'

/** A stream of lines, such as `process.stderr`. */
interface Stream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** The streams and the environment of a process. */
export interface Streams {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly env: Io['env']
}

const CLEAR_LINE = '\r\x1b[K'

/**
 * Returns the environment of a command that prints to these streams. A line of `transient` is
 * removed before anything else is printed; it needs a terminal that knows escape sequences.
 */
export function terminalIo({ stdout, stderr, env }: Streams): Io {
  let shown = false
  const clear = () => {
    if (shown) stderr.write(CLEAR_LINE)
    shown = false
  }
  const printer = (stream: Stream) => (line: string) => {
    clear()
    stream.write(`${line}\n`)
  }
  const transient = (line: string) => {
    clear()
    if (line === '') return
    // A wrapped line could not be removed.
    stderr.write(line.slice(0, (stderr.columns || 80) - 1))
    shown = true
  }
  return {
    env,
    now: () => new Date(),
    out: printer(stdout),
    err: printer(stderr),
    transient: stderr.isTTY === true && env.TERM !== 'dumb' ? transient : null,
  }
}
