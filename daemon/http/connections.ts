import type { ServerResponse } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ServerType } from '@hono/node-server'

const SWEEP_MS = 20

/** The most requests that a client may send ahead of an answer (pipelining). */
const AHEAD_MAX = 64

interface Answers {
  last: ServerResponse | null
  /** Answers to requests that arrived before an earlier answer was sent. */
  readonly ahead: Set<ServerResponse>
}

/**
 * The connections of a server and the state of each. Node reports only answers that are complete or
 * cut off; it reports nothing when a client leaves before the turn of its answer.
 */
export class Connections {
  readonly #server: ServerType
  readonly #open = new Set<Socket>()
  readonly #answers = new Map<Socket, Answers>()
  readonly #sessions = new Set<ServerHttp2Session>()
  /** Connections of HTTP/1.1 without an answer to send at the last look while stopping. */
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

  /**
   * Records that a request of a connection of HTTP/1.1 gets this answer. Returns false when nobody
   * is there to be answered: a client that asks too far ahead is cut off.
   */
  answering(socket: Socket, outgoing: ServerResponse): boolean {
    if (socket.destroyed) return false
    const answers = this.#answers.get(socket) ?? this.#begin(socket)
    const { last, ahead } = answers
    answers.last = outgoing
    if (last === null || last.writableFinished) return true
    ahead.add(outgoing)
    outgoing.once('close', () => ahead.delete(outgoing))
    if (ahead.size > AHEAD_MAX) socket.destroy()
    return !socket.destroyed
  }

  /** Accepts no more; closes idle connections at once, others once answered or after `seconds`. */
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

  #begin(socket: Socket): Answers {
    const answers: Answers = { last: null, ahead: new Set() }
    this.#answers.set(socket, answers)
    socket.once('close', () => {
      this.#answers.delete(socket)
      // Node ends only the answer whose turn it is: the others would keep their files open.
      for (const outgoing of answers.ahead) if (!outgoing.socket) outgoing.destroy().emit('close')
    })
    return answers
  }

  #sweep(): void {
    const idle = [...this.#answers].filter(([, { last }]) => last?.writableFinished !== false)
    const before = this.#idle
    this.#idle = new Set(idle.map(([socket]) => socket))
    // Between two looks, requests are read that have arrived already.
    for (const socket of this.#idle) if (before.has(socket)) socket.destroy()
    // The remaining sockets never finished the TLS handshake, and may never do so.
    if (this.#answers.size === 0 && this.#sessions.size === 0)
      for (const socket of this.#open) socket.destroy()
  }
}
