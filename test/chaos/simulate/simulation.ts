import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from '../../support/random.ts'
import { type Answer, ObjectStorage, type StorageRequest } from '../../support/s3/storage.ts'
import { drawEpisode } from '../cluster/schedule.ts'
import { isLinearizable, story } from '../driver/history.ts'
import { ensure } from '../run.ts'
import type { Storage } from './bucket.ts'
import { Checks, CRATES } from './checks.ts'
import { Clients } from './clients.ts'
import type { Daemon } from './daemon.ts'
import { Faults } from './faults.ts'
import type { Outside } from './hooks.ts'
import { Machine } from './machine.ts'
import { Network, type Weather } from './network.ts'
import { Server } from './postgres/server.ts'
import type { Template } from './template.ts'
import { Timeline } from './timeline.ts'

/** A planted fault, which must be found. */
export type Plant = 'conditions' | 'early bytes' | 'lost commits' | 'no takeover'

/** Virtual milliseconds after the last fault until all work that publishes wait for is rendered. */
const DONE_MS = 10_000
/** Quiet milliseconds after which everything counts as done. */
const REST_MS = 5000
/** No seed takes this long. */
const LIMIT_MS = 10 * 60_000
/** The share of commits that are answered and not made, where that is planted. */
const LOST_COMMITS = 0.1

/** Several daemons in one process, and all that happens to them by one seed. */
export class Simulation implements Outside {
  readonly server: Server
  readonly storage: Storage
  readonly timeline: Timeline
  readonly network: Network
  readonly clients: Clients
  readonly faults: Faults
  readonly #random: Random
  readonly #folder: string
  readonly checks: Checks
  readonly #machines: readonly Machine[]
  readonly #plant: Plant | null
  #isBroken = false

  constructor(seed: number, template: Template, folder: string, plant: Plant | null = null) {
    const random = new Random(seed)
    this.#random = random
    this.#folder = folder
    this.#plant = plant
    mkdirSync(folder, { recursive: true })
    const path = join(folder, 'records.db')
    template.records(path)
    this.timeline = new Timeline(random.fork())
    this.network = new Network(this.timeline)
    this.server = new Server(path, this.timeline)
    if (plant === 'lost commits') this.server.isCommitLost = () => random.chance(LOST_COMMITS)
    const objects = new ObjectStorage()
    this.checks = new Checks(this.server, objects)
    this.storage = { objects, answer: (request, body) => this.#answer(request, body) }
    this.server.onCommit = () => this.#check(() => this.checks.committed())
    const takesOver = plant !== 'no takeover'
    const parts = { metrics: template.metrics, takesOver }
    this.#machines = Array.from(
      { length: random.between(2, 3) },
      (_, at) => new Machine(at + 1, folder, template, this, parts, random.fork()),
    )
    const isBroken = () => this.#isBroken
    const { timeline, network } = this
    const scene = { timeline, network, machines: this.#machines, isBroken }
    this.faults = new Faults(scene, random.fork())
    const field = { timeline, template, daemons: () => this.#daemons, isBroken }
    this.clients = new Clients(field, random.between(1, 2))
  }

  /** Runs the seed; throws the violation. */
  async run(): Promise<void> {
    const { timeline } = this
    const isBroken = () => this.#isBroken
    for (const machine of this.#machines)
      await timeline.until(machine.start(isBroken), 'a start', LIMIT_MS)
    await timeline.until(this.#load(), 'the load', LIMIT_MS)
    this.network.heal()
    await this.#rest()
    this.#isBroken = false
    this.checks.atRest()
    await timeline.until(this.#readAll(), 'the last reads', LIMIT_MS)
    for (const { name, history } of this.clients.subjects)
      ensure(isLinearizable(history), story(name, history))
    this.#nothingLost()
  }

  close(): void {
    for (const machine of this.#machines) machine.kill()
    this.server.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #daemons(): readonly Daemon[] {
    return this.#machines.flatMap(({ daemon }) => daemon ?? [])
  }

  /** Clients work while things break. */
  async #load(): Promise<void> {
    const random = this.#random
    const pause = random.pick([100, 500, 1500])
    const work = Array.from({ length: random.between(2, 4) }, (_, at) =>
      this.clients.work(`c${at}`, random.fork(), random.between(4, 9), pause),
    )
    const episodes = random.pick([0, 1, 1, 2])
    const roughness = random.pick([0, 0.3, 1, 3])
    this.#isBroken = episodes > 0 || roughness > 0
    const slowness = random.pick([0, 0, 0.4])
    this.network.weather.bucket = weather(roughness, slowness)
    this.network.weather.database = weather(roughness / 5, 0)
    const break_ = async () => {
      for (let at = 0; at < episodes; at++) {
        await this.timeline.sleep(random.next() * 2000, 'calm')
        await this.faults.play(drawEpisode(random, this.#machines.length))
      }
    }
    await Promise.all([...work, break_()])
  }

  /** Waits until all is rendered, within the promised time after the last fault. */
  async #rest(): Promise<void> {
    const { timeline, network } = this
    const over = Math.max(timeline.now, network.lastArrival)
    const since = new Map<string, number>()
    for (let done = Number.POSITIVE_INFINITY; timeline.now < Math.max(over, done) + REST_MS; ) {
      const urgent = this.checks.urgent().map(mark => JSON.stringify(mark))
      for (const key of since.keys()) if (!urgent.includes(key)) since.delete(key)
      for (const key of urgent) since.set(key, since.get(key) ?? Math.max(over, timeline.now))
      const oldest = Math.min(...since.values())
      ensure(timeline.now - oldest < DONE_MS, `not rendered after 10 s:\n  ${urgent.join('\n  ')}`)
      done = urgent.length > 0 ? Number.POSITIVE_INFINITY : Math.min(done, timeline.now)
      ensure(await timeline.step(), 'nothing happens any more')
    }
  }

  /** Reads everything once more, through every daemon. */
  async #readAll(): Promise<void> {
    const random = this.#random.fork()
    for (const daemon of this.#daemons)
      for (const subject of this.clients.subjects) {
        await this.clients.read(daemon, subject, 'last', random)
        const wish = { client: 'last', user: null, about: '' }
        for (const what of ['owners', 'versions'] as const)
          await this.clients.record(daemon, subject, { ...wish, what })
      }
  }

  #nothingLost(): void {
    const releases = this.checks.releases()
    for (const { name, acknowledged } of this.clients.subjects)
      for (const [version, { cksum }] of acknowledged) {
        const matching = releases.filter(
          release => release.name === name && release.version === version,
        )
        ensure(matching.length === 1, `${name} ${version} is there ${matching.length} times`)
        ensure(matching[0]?.cksum === cksum, `${name} ${version} has other bytes`)
      }
  }

  #check(look: () => void): void {
    try {
      look()
    } catch (error) {
      this.timeline.fail(error)
    }
  }

  #answer(request: StorageRequest, body: Buffer): Answer {
    const { method, key } = request
    const change = (arrived: StorageRequest) => {
      const answer = this.storage.objects.answer(arrived, body)
      const isChange = method === 'PUT' || method === 'DELETE'
      if (isChange && answer.status < 300) this.#check(() => this.checks.changed(key))
      return answer
    }
    if (this.#plant === 'early bytes' && method === 'PUT' && key.startsWith(CRATES)) {
      this.timeline.plan(
        `late ${key}`,
        null,
        random => random.next() * 3000,
        () => change(request),
      )
      return { status: 200, headers: { etag: '"early"' } }
    }
    if (this.#plant !== 'conditions') return change(request)
    const { 'if-match': _, 'if-none-match': __, ...headers } = request.headers
    return change({ ...request, headers })
  }
}

/** The probability of faults, from 0 for never, and the share of slow messages. */
function weather(roughness: number, slowness: number): Weather {
  const often = (share: number) => share * roughness
  return {
    slow: often(0.06) + slowness,
    late: often(0.015),
    cut: often(0.005),
    lost: often(0.01),
    busy: often(0.01),
  }
}
