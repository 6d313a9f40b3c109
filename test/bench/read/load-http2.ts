import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'

/** The request over one HTTP/2 connection, and its number of simultaneous streams. */
export interface Streams {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly streams: number
  /** File of the certificate to trust. */
  readonly ca: string
}

/** Keeps the wanted number of streams open; calls `done` for each answer. */
export class StreamLoad {
  readonly #session: ClientHttp2Session
  #isClosed = false

  constructor(
    port: number,
    { path, headers, streams, ca }: Streams,
    done: (status: string) => void,
  ) {
    this.#session = connect(`https://127.0.0.1:${port}`, { ca: readFileSync(ca) })
    this.#session.on('error', error => {
      if (!this.#isClosed) throw error
    })
    const ask = () => {
      if (this.#isClosed) return
      const stream = this.#session.request({ ...headers, ':path': path })
      let status = ''
      stream.on('response', head => {
        status = String(head[':status'])
      })
      stream.resume().on('end', () => {
        done(status)
        ask()
      })
    }
    for (let at = 0; at < streams; at++) ask()
  }

  close(): void {
    this.#isClosed = true
    this.#session.destroy()
  }
}
