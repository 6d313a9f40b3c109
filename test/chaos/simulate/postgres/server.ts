import { ensure } from '../../run.ts'
import type { Event, Timeline } from '../timeline.ts'
import { type Result, Statements } from './statements.ts'

/** A message of a client: a statement, or several without values. */
export interface Message {
  readonly text: string
  readonly values: readonly unknown[]
}

/** The server's answer: results, and then perhaps an error, after which it may hang up. */
export interface Reply {
  readonly results: readonly Result[]
  readonly error: ServerError | null
  readonly isEnd: boolean
}

/** An error with PostgreSQL's code. */
export class ServerError extends Error {
  readonly code: string
  readonly severity: string

  constructor(code: string, message: string, severity = 'ERROR') {
    super(message)
    this.code = code
    this.severity = severity
  }
}

/** The number of the writers' lock, whose holder has a transaction that writes. */
const WRITERS = '1886150003'

interface Waiting {
  readonly session: Session
  readonly granted: () => void
}

interface Lock {
  readonly session: Session
  readonly waiting: Waiting[]
}

/** The server's own time limits, in milliseconds; 0 is no limit. */
export interface Limits {
  readonly lock: number
  readonly idle: number
}

/**
 * A database server: sessions with transactions, advisory locks that are served in order, its own
 * time limits, and the records in SQLite. Only the holder of the writers' lock writes, so one
 * transaction at a time is enough.
 */
export class Server {
  readonly timeline: Timeline
  readonly readers: Statements
  readonly writer: Statements
  readonly locks = new Map<string, Lock>()
  /** The outcomes of transactions, by their numbers. */
  readonly outcomes = new Map<string, 'in progress' | 'committed' | 'aborted'>()
  readonly sessions = new Set<Session>()
  commits = 0
  /** Called after each commit. */
  onCommit: () => void = () => undefined
  /** Whether a commit is answered and not made: a planted fault. */
  isCommitLost: () => boolean = () => false

  constructor(path: string, timeline: Timeline) {
    this.timeline = timeline
    this.writer = new Statements(path)
    this.readers = new Statements(path)
  }

  open(name: string, limits: Limits): Session {
    const session = new Session(this, name, limits)
    this.sessions.add(session)
    return session
  }

  close(): void {
    for (const session of this.sessions) session.end()
    this.writer.close()
    this.readers.close()
  }
}

/** A session of a client, which sends one message at a time. */
export class Session {
  readonly #server: Server
  readonly #name: string
  readonly #limits: Limits
  readonly #inbox: { readonly message: Message; readonly answer: (reply: Reply) => void }[] = []
  #isWorking = false
  #isEnded = false
  #inTransaction = false
  #hasFailed = false
  #isWriter = false
  #id: string | null = null
  #limit: Event | null = null
  /** Called when the server ends the session by itself, with the reason. */
  onEnd: (error: ServerError) => void = () => undefined

  constructor(server: Server, name: string, limits: Limits) {
    this.#server = server
    this.#name = name
    this.#limits = limits
  }

  /** Executes a message when those before it are done. */
  take(message: Message, answer: (reply: Reply) => void): void {
    this.#inbox.push({ message, answer })
    this.#next()
  }

  /** The client is gone: rolls back, and frees its locks. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#unlimited()
    this.#finish(false)
    for (const { waiting } of this.#server.locks.values()) {
      const at = waiting.findIndex(waiting => waiting.session === this)
      if (at >= 0) waiting.splice(at, 1)
    }
    this.#server.sessions.delete(this)
  }

  #next(): void {
    if (this.#isWorking || this.#isEnded) return
    const first = this.#inbox.shift()
    if (!first) return void this.#idle()
    this.#unlimited()
    this.#isWorking = true
    const { text, values } = first.message
    // A text with values is one statement, even if it contains semicolons.
    const statements = values.length > 0 ? [text] : text.split(/;\s*(?=[A-Z])/)
    this.#run(statements, values, [], reply => {
      this.#isWorking = false
      first.answer(reply)
      this.#next()
    })
  }

  #run(
    statements: readonly string[],
    values: readonly unknown[],
    results: readonly Result[],
    answer: (reply: Reply) => void,
  ): void {
    const [statement, ...rest] = statements
    if (statement === undefined) return void answer({ results, error: null, isEnd: false })
    const fail = (error: ServerError) => {
      if (this.#inTransaction) this.#hasFailed = true
      answer({ results, error, isEnd: false })
    }
    const proceed = (result: Result) => this.#run(rest, values, [...results, result], answer)
    const [, key] = /pg_advisory_xact_lock\((\d+)/.exec(statement) ?? []
    if (key !== undefined) return void this.#lock(key, () => proceed(row({ granted: '' })), fail)
    try {
      proceed(this.#execute(statement, values))
    } catch (error) {
      // PostgreSQL may understand a statement that SQLite does not: that is a fault of this server.
      if (/syntax error|no such/.test(String(error))) this.#server.timeline.fail(error)
      fail(error instanceof ServerError ? error : new ServerError('XX000', String(error)))
    }
  }

  #execute(text: string, values: readonly unknown[]): Result {
    if (text.startsWith('BEGIN')) {
      this.#inTransaction = true
      return { rows: null, tag: 'BEGIN' }
    }
    if (text === 'COMMIT' || text === 'ROLLBACK') return { rows: null, tag: this.#close(text) }
    if (text.startsWith('SET ')) return { rows: null, tag: 'SET' }
    if (this.#hasFailed && !text.startsWith('ROLLBACK TO'))
      throw new ServerError('25P02', 'current transaction is aborted')
    if (text.startsWith('ROLLBACK TO')) this.#hasFailed = false
    const answered = this.#ownAnswer(text, values)
    if (answered) return row(answered)
    const { writer, readers } = this.#server
    ensure(this.#isWriter || /^\s*(?:SELECT|WITH)\b/i.test(text), `${text} without the lock`)
    return (this.#isWriter ? writer : readers).execute(text, values)
  }

  /** Answers questions that only PostgreSQL understands. */
  #ownAnswer(text: string, [first]: readonly unknown[]): Record<string, unknown> | null {
    const { outcomes, timeline } = this.#server
    const [, key] = /pg_try_advisory_xact_lock\((\d+)/.exec(text) ?? []
    if (key !== undefined) return { taken: Number(this.#tryLock(key)) }
    if (text.includes('pg_current_xact_id')) {
      this.#id = String(outcomes.size + 1)
      outcomes.set(this.#id, 'in progress')
      return { id: this.#id, crash: null }
    }
    if (text.includes('pg_xact_status'))
      return { outcome: outcomes.get(String(first)) ?? null, crash: null }
    if (text.includes('clock_timestamp()')) return { now: Math.floor(timeline.now) }
    if (text.includes('pg_advisory_unlock')) return { unlocked: 0 }
    if (text.includes('FROM pg_settings')) return { set_config: '0' }
    return text === 'SELECT 1' ? { one: 1 } : null
  }

  #close(text: 'COMMIT' | 'ROLLBACK'): string {
    const isKept = text === 'COMMIT' && !this.#hasFailed
    this.#finish(isKept)
    return isKept ? 'COMMIT' : 'ROLLBACK'
  }

  /** Ends the transaction, and gives its locks to waiting sessions. */
  #finish(isKept: boolean): void {
    const { writer, outcomes, locks } = this.#server
    const wasWriter = this.#isWriter
    const isMade = isKept && !(wasWriter && this.#server.isCommitLost())
    if (wasWriter) writer.exec(isMade ? 'COMMIT' : 'ROLLBACK')
    if (this.#id !== null) outcomes.set(this.#id, isKept ? 'committed' : 'aborted')
    this.#inTransaction = this.#hasFailed = this.#isWriter = false
    this.#id = null
    if (wasWriter && isMade) {
      this.#server.commits++
      this.#server.onCommit()
    }
    for (const [key, held] of locks) {
      if (held.session !== this) continue
      locks.delete(key)
      const next = held.waiting.shift()
      if (!next) continue
      locks.set(key, { session: next.session, waiting: held.waiting })
      next.granted()
    }
  }

  #tryLock(key: string): boolean {
    const { locks } = this.#server
    if (locks.has(key)) return locks.get(key)?.session === this
    locks.set(key, { session: this, waiting: [] })
    return true
  }

  #lock(key: string, granted: () => void, fail: (error: ServerError) => void): void {
    const take = () => {
      if (key === WRITERS) {
        this.#isWriter = true
        this.#server.writer.exec('BEGIN IMMEDIATE')
      }
      granted()
    }
    if (this.#tryLock(key)) return void take()
    const waiting = this.#server.locks.get(key)?.waiting ?? []
    const waiter: Waiting = {
      session: this,
      granted: () => {
        this.#unlimited()
        take()
      },
    }
    waiting.push(waiter)
    this.#limited(this.#limits.lock, 'lock', () => {
      waiting.splice(waiting.indexOf(waiter), 1)
      fail(new ServerError('55P03', 'canceling statement due to lock timeout'))
    })
  }

  /** Ends a transaction whose client is silent for too long. */
  #idle(): void {
    if (!this.#inTransaction) return
    this.#limited(this.#limits.idle, 'idle', () => {
      const words = 'terminating connection due to idle-in-transaction timeout'
      this.end()
      this.onEnd(new ServerError('25P03', words, 'FATAL'))
    })
  }

  #limited(ms: number, what: string, work: () => void): void {
    if (ms === 0) return
    const key = `limit ${what} of ${this.#name}`
    this.#limit = this.#server.timeline.plan(key, null, () => ms, work)
  }

  #unlimited(): void {
    if (this.#limit) this.#limit.work = null
    this.#limit = null
  }
}

function row(values: Readonly<Record<string, unknown>>): Result {
  return { rows: [values], tag: 'SELECT 1' }
}
