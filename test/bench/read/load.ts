import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Program, spent } from '../support/program.ts'
import { StreamLoad, type Streams } from './load-http2.ts'

/** A request that kept connections send again and again. */
export interface Load {
  readonly port: number
  /** The text of an HTTP/1.1 request, or the streams over HTTP/2. */
  readonly request: string | Streams
  readonly connections: number
}

const WARM_MS = 300
const MEASURE_MS = 700

interface Report {
  readonly answers: number
  readonly status: string
}

/**
 * Puts a load on a server from a process beside it; returns the server's processor time per answer,
 * in microseconds, and the status.
 */
export async function measure(server: Program, load: Omit<Load, 'port'>) {
  const order: Load = { ...load, port: server.port }
  const child = fork(fileURLToPath(import.meta.url), [LOAD, JSON.stringify(order)])
  const message = async () => {
    const [received] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => [null]),
    ])
    if (received === null) throw new Error('the load has ended too early')
    return received
  }
  await message()
  const before = server.usage()
  const { answers, status } = (await message()) as Report
  return { micros: (spent(before, server.usage()) / answers) * 1000, status }
}

const LOAD = '--put-load'

/** One request text, as Cargo would send it. */
export function requestText(path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(
    ([key, value]) => `${key}: ${value}\r\n`,
  )
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/**
 * Counts answers on one connection: the head up to the blank line, then its stated number of bytes.
 */
class Connection {
  readonly #socket: Socket
  readonly #request: Buffer
  readonly #done: (head: string) => void
  #pending: Buffer = Buffer.alloc(0)
  #head = ''
  #missing = 0

  constructor(port: number, request: string, done: (head: string) => void) {
    this.#request = Buffer.from(request)
    this.#done = done
    this.#socket = connect(port, '127.0.0.1', () => this.#socket.write(this.#request))
    this.#socket.setNoDelay(true)
    this.#socket.on('data', chunk => this.#take(chunk))
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    if (this.#head !== '') {
      this.#missing -= chunk.length
    } else {
      this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
      const end = this.#pending.indexOf('\r\n\r\n')
      if (end < 0) return
      this.#head = this.#pending.toString('latin1', 0, end)
      const length = /^content-length: *(\d+)/im.exec(this.#head)?.[1]
      if (length === undefined && !/^HTTP\/1\.1 304/.test(this.#head))
        throw new Error(`no length:\n${this.#head}`)
      const body = /^HTTP\/1\.1 304/.test(this.#head) ? 0 : Number(length)
      this.#missing = body - (this.#pending.length - end - 4)
      this.#pending = Buffer.alloc(0)
    }
    if (this.#missing > 0) return
    this.#done(this.#head)
    this.#head = ''
    this.#socket.write(this.#request)
  }
}

function run(load: Load): void {
  let [counting, answers, status] = [false, 0, '']
  const { port, request } = load
  const count = (code: string) => {
    if (!counting) return
    answers++
    status = code
  }
  const connections = Array.from({ length: load.connections }, () =>
    typeof request === 'string'
      ? new Connection(port, request, head => count(head.slice(9, 12)))
      : new StreamLoad(port, request, count),
  )
  setTimeout(() => {
    counting = true
    process.send?.('counting')
    setTimeout(() => {
      for (const connection of connections) connection.close()
      process.send?.({ answers, status } satisfies Report, () => process.exit())
    }, MEASURE_MS)
  }, WARM_MS)
}

if (process.argv[2] === LOAD) run(JSON.parse(process.argv[3] ?? '') as Load)
