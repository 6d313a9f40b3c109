import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

/** What to ask for, again and again, over connections that are kept. */
export interface Load {
  readonly port: number
  readonly request: string
  readonly connections: number
  readonly warmMs: number
  readonly measureMs: number
}

/** What came of it. */
export interface Outcome {
  readonly perSecond: number
  /**
   * Processor time of the serving process per answer, in microseconds; other programs on the
   * machine do not count.
   */
  readonly micros: number
  readonly status: string
  readonly bytesPerAnswer: number
}

interface Report {
  readonly answers: number
  readonly seconds: number
  readonly bytes: number
  readonly status: string
}

/** Puts a load on a server of this process from a process of its own. */
export async function measure(load: Load): Promise<Outcome> {
  const child = fork(fileURLToPath(import.meta.url), [LOAD, JSON.stringify(load)])
  await once(child, 'message')
  const before = process.cpuUsage()
  const [report] = (await once(child, 'message')) as [Report]
  const { user, system } = process.cpuUsage(before)
  const { answers, seconds, bytes, status } = report
  const micros = (user + system) / answers
  return {
    perSecond: answers / seconds,
    micros,
    status,
    bytesPerAnswer: Math.round(bytes / answers),
  }
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
 * Counts answers on one connection: the head up to the blank line, then as many bytes as it says.
 */
class Connection {
  readonly #socket: Socket
  readonly #request: Buffer
  readonly #done: (head: string, bytes: number) => void
  #pending: Buffer = Buffer.alloc(0)
  #head = ''
  #missing = 0
  #size = 0

  constructor(port: number, request: string, done: (head: string, bytes: number) => void) {
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
    this.#size += chunk.length
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
    this.#done(this.#head, this.#size)
    this.#head = ''
    this.#size = 0
    this.#socket.write(this.#request)
  }
}

function run(load: Load): void {
  let [counting, answers, bytes, status] = [false, 0, 0, '']
  const connections = Array.from(
    { length: load.connections },
    () =>
      new Connection(load.port, load.request, (head, size) => {
        if (!counting) return
        answers++
        bytes += size
        status = head.slice(9, 12)
      }),
  )
  setTimeout(() => {
    counting = true
    const start = performance.now()
    process.send?.('counting')
    setTimeout(() => {
      for (const one of connections) one.close()
      const report: Report = { answers, seconds: (performance.now() - start) / 1000, bytes, status }
      process.send?.(report, () => process.exit())
    }, load.measureMs)
  }, load.warmMs)
}

if (process.argv[2] === LOAD) run(JSON.parse(process.argv[3] ?? '') as Load)
