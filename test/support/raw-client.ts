import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { until } from './until.ts'

/** A connection on which a test writes any bytes, and sees the answer byte for byte. */
export class RawClient {
  readonly socket: Socket
  #received = ''
  #isClosed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', chunk => {
      this.#received += chunk.toString('latin1')
    })
    // A test sees the end of the connection from the received bytes.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#isClosed = true
    })
  }

  static async open(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  /**
   * Writes, and waits until the kernel has taken all of it: a client that sends first and reads
   * afterwards.
   */
  async send(data: string | Uint8Array): Promise<void> {
    await new Promise<void>(resolve => this.socket.write(data, () => resolve()))
  }

  get received(): string {
    return this.#received
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Waits until the received text satisfies `is`, and returns it. */
  async until(is: (received: string, isClosed: boolean) => boolean): Promise<string> {
    await until(
      () => is(this.#received, this.#isClosed),
      () => `only this has arrived: ${JSON.stringify(this.#received.slice(0, 500))}`,
    )
    return this.#received
  }

  /**
   * Status and JSON of the answer that arrives next, whole by its `Content-Length`; interim answers
   * are skipped.
   */
  async answer(): Promise<{ status: number; body: unknown; head: string }> {
    const whole = /^(?:HTTP\/1\.1 1\d\d .*\r\n\r\n)*(HTTP\/1\.1 ([2-5]\d\d) [\s\S]*?\r\n\r\n)/
    const rest = () => {
      const match = whole.exec(this.#received)
      if (!match) return null
      const [all, head = '', status] = match
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
      const body = this.#received.slice(all.length, all.length + length)
      return body.length === length
        ? { status: Number(status), head, body, end: all.length + length }
        : null
    }
    await this.until((_, isClosed) => rest() !== null || isClosed)
    const answer = rest()
    if (!answer)
      throw new Error(`no whole answer, but ${JSON.stringify(this.#received.slice(0, 500))}`)
    this.#received = this.#received.slice(answer.end)
    return {
      status: answer.status,
      head: answer.head,
      body: JSON.parse(answer.body === '' ? 'null' : answer.body),
    }
  }
}

/** The head of a request. */
export function head(
  method: string,
  path: string,
  headers: Readonly<Record<string, string | number>>,
): string {
  const lines = Object.entries({ host: 'crates.test', ...headers }).map(
    ([key, value]) => `${key}: ${value}\r\n`,
  )
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}
