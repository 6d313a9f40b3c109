import { type Logger, pino } from 'pino'

/** Where log lines go. */
export interface LogSink {
  write(line: string): unknown
}

/** Whatever looks like the secret of a token, in whatever way it came into a line: a path, an error of a library. */
const SECRET = /plim_[0-9A-Za-z]{8,}/g

/** The log of the daemon: JSON lines, in which no token can be read. */
export function openLog(level: string, sink: LogSink): Logger {
  return pino({ level }, { write: line => void sink.write(line.replace(SECRET, 'plim_…')) })
}
