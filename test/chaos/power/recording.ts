import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../support/random.ts'
import { callOf } from '../driver/wish.ts'
import { Program } from '../program.ts'
import { ensure, Violation } from '../run.ts'
import { type Change, drawChanges } from './changes.ts'
import { CALLS } from './strace.ts'

/** A change of a crate, or a token that a command has made. */
type Made = Change | { readonly what: 'token'; readonly name: string }

/** A change that was acknowledged: by an answer on a connection, or by the end of a command. */
export type KeptPromise = Made & {
  /** The client's port and the number of the answer there; or the number of a command. */
  readonly by: { readonly port: number; readonly answer: number } | { readonly command: number }
}

/** Runs commands below `strace`, all in one recording. */
export class Recording {
  readonly promises: KeptPromise[] = []
  /** The parent of the registry folder. */
  readonly disk: string
  readonly trace: string
  readonly #folder: string
  readonly #shell: ChildProcess
  readonly #ended: Promise<unknown>
  #commands = 0

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder
    this.disk = join(folder, 'disk')
    mkdirSync(this.disk)
    this.trace = join(folder, 'trace')
    const launcher = join(folder, 'launch.sh')
    writeFileSync(launcher, 'while read -r line; do eval "$line" & done; wait\n')
    const options = ['-f', '--seccomp-bpf', '-yy', '-xx', '-s', '4000000', '-o', this.trace]
    this.#shell = spawn(
      'strace',
      [...options, '-e', `trace=${CALLS.join()}`, '--', 'bash', launcher],
      { cwd: folder, env: { ...Program.environment(env), UV_USE_IO_URING: '0' }, stdio: 'pipe' },
    )
    this.#ended = new Promise(resolve => this.#shell.on('close', resolve))
    this.#shell.on('error', () => {})
  }

  get registry(): string {
    return join(this.disk, 'registry')
  }

  start(...args: readonly string[]): number {
    const number = ++this.#commands
    const words = [...args, '--dir', this.registry].map(word => `'${word}'`).join(' ')
    const out = join(this.#folder, `out-${number}`)
    writeFileSync(out, '')
    const acknowledge = `echo "ack ${number} $?" >> ${this.#folder}/acknowledged`
    this.#shell.stdin?.write(
      `('${process.execPath}' '${Program.path}' ${words} > ${out} 2>&1 & echo $! > ${out}.pid; wait $!; ${acknowledge})\n`,
    )
    return number
  }

  /** Asks a command to end, and waits for it. */
  async stop(number: number): Promise<void> {
    process.kill(Number(readFileSync(join(this.#folder, `out-${number}.pid`), 'utf8')), 'SIGTERM')
    while (!this.#hasEnded(number)) await sleep(20)
  }

  /** Waits for a command's output. */
  async says(number: number, what: RegExp): Promise<string> {
    for (const end = performance.now() + 120_000; performance.now() < end; await sleep(20)) {
      const match = what.exec(readFileSync(join(this.#folder, `out-${number}`), 'utf8'))
      if (match) return match[1] ?? match[0]
      if (this.#hasEnded(number)) break
    }
    throw new Violation(`${what}: ${readFileSync(join(this.#folder, `out-${number}`), 'utf8')}`)
  }

  /** Runs a command to its end, which has to be a good one. */
  async run(args: readonly string[], ...promises: Made[]): Promise<number> {
    const number = this.start(...args)
    while (!this.#hasEnded(number)) await sleep(20)
    const text = readFileSync(join(this.#folder, 'acknowledged'), 'utf8')
    const out = readFileSync(join(this.#folder, `out-${number}`), 'utf8')
    ensure(text.includes(`ack ${number} 0\n`), `${args.join(' ')}: ${out}`)
    for (const fact of promises) this.promises.push({ ...fact, by: { command: number } })
    return number
  }

  #hasEnded(number: number): boolean {
    const path = join(this.#folder, 'acknowledged')
    return existsSync(path) && readFileSync(path, 'utf8').includes(`ack ${number} `)
  }

  /** Asks everything to end, and waits for the recording. */
  async end(): Promise<void> {
    this.#shell.stdin?.end()
    await this.#ended
  }
}

/** One connection to the daemon, whose answers are counted. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #recording: Recording
  readonly #url: string
  readonly #token: string
  readonly #counts = new Map<number, number>()

  constructor(recording: Recording, url: string, token: string) {
    this.#recording = recording
    this.#url = url
    this.#token = token
  }

  /** Sends a change and waits for its answer, which has to be a success. */
  async #send(change: Change): Promise<void> {
    const { name, ...deed } = change
    const { method, path, body = new Uint8Array() } = callOf(name, deed)
    const headers = { authorization: this.#token, 'content-length': body.length }
    const { port, text } = await new Promise<{ port: number; text: string }>((resolve, reject) => {
      const asked = request(`${this.#url}${path}`, { method, headers, agent: this.#agent })
      asked.on('error', reject)
      asked.on('response', answer => {
        const from = (asked.socket as Socket).localPort ?? 0
        let received = String(answer.statusCode)
        answer.on('data', chunk => {
          received += chunk
        })
        answer.on('end', () => resolve({ port: from, text: received }))
      })
      asked.end(body)
    })
    ensure(text.startsWith('200') && !text.includes('"errors"'), `${method} ${path}: ${text}`)
    const answer = (this.#counts.get(port) ?? 0) + 1
    this.#counts.set(port, answer)
    this.#recording.promises.push({ ...change, by: { port, answer } })
  }

  /** Publishes, yanks and changes owners at random. */
  async work(life: number, number: number, count: number, random: Random): Promise<void> {
    for (const change of drawChanges(life, number, count, random)) await this.#send(change)
    this.#agent.destroy()
  }
}
