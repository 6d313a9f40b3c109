/**
 * Replaces connections to the database server of a simulation, below the driver: bytes that `pg`
 * would write to a socket arrive at the server later, and its answers later still, or never.
 */
import pg from 'pg'
import type { Random } from '../../../support/random.ts'
import { currentProcess, type VirtualProcess } from '../process.ts'
import type { Message, Reply, Server, Session } from './server.ts'
import { encoded } from './statements.ts'

/** The name by which the server is known. */
export const DATABASE_HOST = 'database.simulated'

/** A `Connection` of the driver, with the simulation's additions. */
interface Wire extends NodeJS.EventEmitter {
  readonly stream: NodeJS.EventEmitter & { destroy(): void }
  _ending: boolean
  link?: Link
}

/** The end of a connection at the client. */
class Link {
  readonly #wire: Wire
  readonly #process: VirtualProcess
  readonly #server: Server
  readonly #name: string
  /** Texts of prepared statements by name. */
  readonly #prepared = new Map<string, string>()
  #message: Message = { text: '', values: [] }
  #isParsed = false
  #session: Session | null = null
  #isOver = false
  /** When the last message arrives, each way: the later ones come after it. */
  #there = 0
  #back = 0

  constructor(wire: Wire, process: VirtualProcess, server: Server) {
    this.#wire = wire
    this.#process = process
    this.#server = server
    this.#name = `${process.name} ${links.get(process) ?? 0}`
    links.set(process, (links.get(process) ?? 0) + 1)
    all.add(this)
    // The driver destroys connections that are not made in time.
    wire.stream.on('error', error => wire.emit('error', error))
    wire.stream.once('close', () => this.close())
  }

  get process(): VirtualProcess {
    return this.#process
  }

  connect(): void {
    this.#toServer('connect', fate => {
      if (fate !== 'good') return this.#break('ECONNREFUSED', 'connect')
      this.#toClient('connected', () => this.#wire.emit('connect'))
    })
  }

  startup(settings: Readonly<Record<string, string>>): void {
    this.#toServer('startup', fate => {
      if (fate !== 'good') return this.reset()
      const lock = Number(settings.lock_timeout ?? 0)
      const idle = Number(settings.idle_in_transaction_session_timeout ?? 0)
      const session = this.#server.open(this.#name, { lock, idle })
      this.#session = session
      session.onEnd = error => {
        this.#toClient('ended by the server', () => this.#emit({ results: [], error, isEnd: true }))
      }
      this.#toClient('ready', () => this.#wire.emit('readyForQuery', { status: 'I' }))
    })
  }

  parse({ name, text }: { readonly name?: string; readonly text: string }): void {
    this.#prepared.set(name ?? '', text)
    this.#isParsed = true
  }

  bind({ statement, values }: { readonly statement?: string; readonly values?: unknown[] }): void {
    this.#message = { text: this.#prepared.get(statement ?? '') ?? '', values: values ?? [] }
  }

  sync(): void {
    this.send(this.#message)
  }

  send(message: Message): void {
    const isParsed = this.#isParsed
    this.#isParsed = false
    this.#toServer(keyOf(message), fate => {
      if (fate === 'cut') return this.reset()
      this.#session?.take(message, reply => {
        if (fate === 'lost') return this.reset()
        this.#toClient('answer', () => {
          if (isParsed) this.#wire.emit('parseComplete')
          this.#emit(reply)
        })
      })
    })
  }

  /** The client hangs up: the server learns that after all earlier messages. */
  close(): void {
    if (this.#isOver) return
    this.#hangUp(0)
    this.#wire.emit('end')
  }

  /** The connection breaks: the client learns it at once, the server after all earlier messages. */
  reset(): void {
    if (this.#isOver) return
    this.#break('ECONNRESET', 'read')
  }

  /** The connection breaks, and the server keeps it open for `ms`. */
  vanish(ms: number): void {
    if (!this.#isOver) this.#break('ECONNRESET', 'read', ms)
  }

  /** The process is dead: the server learns it after all earlier messages. */
  abandon(): void {
    if (!this.#isOver) this.#hangUp(0)
  }

  #hangUp(ms: number): void {
    this.#isOver = true
    all.delete(this)
    if (ms > 0) this.#there = this.#process.world.timeline.now + ms
    const session = this.#session
    if (session) this.#plan('hang-up', () => session.end())
  }

  #break(code: string, syscall: string, ms = 0): void {
    if (this.#isOver) return
    this.#hangUp(ms)
    const error = Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
    this.#process.world.timeline.plan(
      `db ${code}`,
      this.#process,
      () => 0,
      () => {
        this.#wire.emit('error', error)
        this.#wire.emit('end')
      },
    )
  }

  #emit({ results, error, isEnd }: Reply): void {
    if (this.#isOver) return
    const wire = this.#wire
    for (const { rows, tag } of results) {
      if (rows) {
        const { fields, rows: texts } = encoded(rows)
        wire.emit('rowDescription', { fields })
        for (const fields of texts) wire.emit('dataRow', { fields })
      }
      wire.emit('commandComplete', { text: tag })
    }
    if (error) wire.emit('errorMessage', error)
    if (!isEnd) return void wire.emit('readyForQuery', { status: 'I' })
    this.#isOver = true
    all.delete(this)
    wire.emit('end')
  }

  /** Sends to the server, with a fate that is drawn now. */
  #toServer(what: string, arrive: (fate: 'good' | 'cut' | 'lost') => void): void {
    const { network } = this.#process.world
    let fate: 'good' | 'cut' | 'lost' = 'good'
    const draw = (random: Random) => {
      const drawn = network.fate(random, this.#process, 'database')
      // A server that cannot now says so by hanging up.
      fate = drawn === 'busy' ? 'cut' : drawn
    }
    this.#plan(what, () => arrive(fate), draw)
  }

  #plan(what: string, work: () => void, draw: (random: Random) => void = () => undefined): void {
    const { network, timeline } = this.#process.world
    const when = (random: Random) => {
      draw(random)
      const at = timeline.now + network.delay(random, this.#process, 'database')
      this.#there = Math.max(at, this.#there + 0.001)
      return this.#there - timeline.now
    }
    // It belongs to no process: messages of a dead process still arrive.
    timeline.plan(`to db ${this.#name}: ${what}`, null, when, work)
  }

  #toClient(what: string, work: () => void): void {
    const { network, timeline } = this.#process.world
    const when = (random: Random) => {
      const at = timeline.now + network.delay(random, this.#process, 'database')
      this.#back = Math.max(at, this.#back + 0.001)
      return this.#back - timeline.now
    }
    timeline.plan(`from db ${this.#name}: ${what}`, this.#process, when, () => {
      if (!this.#isOver) work()
    })
  }
}

/** The open connections, and how many each process has had. */
const all = new Set<Link>()
const links = new WeakMap<VirtualProcess, number>()

/** The open connections of a process. */
export function linksOf(process: VirtualProcess): readonly Link[] {
  return [...all].filter(link => link.process === process)
}

/** The text that differs between two runs of a seed: the process's place, and its tokens. */
const OF_THE_RUN = /"host":"[^"]*","process":\d+|[0-9a-f]{64}/g

function keyOf({ text, values }: Message): string {
  const short = (value: unknown) => {
    const shown = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
    const same = shown.replace(OF_THE_RUN, '…')
    return same.length > 80 ? `${same.slice(0, 60)}… ${same.length}` : same
  }
  return `${text.replace(/\s+/g, ' ').slice(0, 90)} [${values.map(short)}]`
}

type Method = (this: Wire, ...args: unknown[]) => unknown

/** Leads connections of simulated processes to `server()`; returns a function that undoes it. */
export function replaceConnections(server: () => Server): () => void {
  const prototype = pg.Connection.prototype as unknown as Record<string, Method>
  const before = new Map<string, Method>()
  const replace = (name: string, by: (link: Link, ...args: never[]) => void) => {
    const real = prototype[name] as Method
    before.set(name, real)
    prototype[name] = function (...args) {
      return this.link ? by(this.link, ...(args as never[])) : real.apply(this, args)
    }
  }
  const connect = prototype.connect as Method
  before.set('connect', connect)
  prototype.connect = function (...args) {
    const process = currentProcess()
    if (!process || args[1] !== DATABASE_HOST) return connect.apply(this, args)
    this.link = new Link(this, process, server())
    this.link.connect()
  }
  replace('startup', (link, settings: Record<string, string>) => link.startup(settings))
  replace('query', (link, text: string) => link.send({ text, values: [] }))
  replace('parse', (link, query: { name?: string; text: string }) => link.parse(query))
  replace('bind', (link, config: { statement?: string; values?: unknown[] }) => link.bind(config))
  replace('sync', link => link.sync())
  replace('end', link => link.close())
  for (const name of ['describe', 'execute', 'close', 'flush', 'ref', 'unref'])
    replace(name, () => undefined)
  return () => {
    for (const [name, real] of before) prototype[name] = real
  }
}
