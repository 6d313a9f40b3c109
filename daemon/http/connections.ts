import type { ServerResponse } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ServerType } from '@hono/node-server'

/** The time between two looks at the connections of a server that is stopping. */
const SWEEP_MS = 20

/**
 * The connections of a server and what each is doing. Node tells only of answers that are complete
 * or cut off, and of neither when a client leaves before it is the turn of an answer.
 */
export class Connections {
  readonly #server: ServerType
  /** All connections, whatever they speak. */
  readonly #open = new Set<Socket>()
  /** Those of HTTP/1.1, each with the answer to its last request. */
  readonly #answers = new Map<Socket, ServerResponse | null>()
  readonly #sessions = new Set<ServerHttp2Session>()
  /** Those of HTTP/1.1 that had nothing to answer at the last look while stopping. */
  #idle = new Set<Socket>()
  #isStopping = false

  constructor(server: ServerType) {
    this.#server = server
    const isSecure = 'setSecureContext' in server
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      socket.once('close', () => this.#open.delete(socket))
      if (!isSecure) this.#begin(socket)
    })
    server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol !== 'h2') this.#begin(socket)
    })
    server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
      if (this.#isStopping) session.close()
    })
  }

  /** Records that the last request of a connection of HTTP/1.1 gets this answer. */
  answering(socket: Socket, outgoing: ServerResponse): void {
    this.#answers.set(socket, outgoing)
  }

  /**
   * Accepts no more connections; closes those on which nothing is to be answered, and the others as
   * soon as their answers are sent, or after `seconds`. Resolves when all are closed.
   */
  async stop(seconds: number): Promise<void> {
    this.#isStopping = true
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    for (const session of this.#sessions) session.close()
    const sweep = setInterval(() => this.#sweep(), SWEEP_MS)
    const timer = setTimeout(() => {
      for (const session of this.#sessions) session.destroy()
      for (const socket of [...this.#answers.keys(), ...this.#open]) socket.destroy()
    }, seconds * 1000)
    await closed
    clearInterval(sweep)
    clearTimeout(timer)
  }

  #begin(socket: Socket): void {
    this.#answers.set(socket, null)
    socket.once('close', () => this.#answers.delete(socket))
  }

  #sweep(): void {
    const idle = [...this.#answers].filter(([, outgoing]) => outgoing?.writableFinished !== false)
    const before = this.#idle
    this.#idle = new Set(idle.map(([socket]) => socket))
    // Between two looks, requests are read that have arrived already.
    for (const socket of this.#idle) if (before.has(socket)) socket.destroy()
    // What is left then has not agreed on a protocol, and might never do so.
    if (this.#answers.size === 0 && this.#sessions.size === 0)
      for (const socket of this.#open) socket.destroy()
  }
}
