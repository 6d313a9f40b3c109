import { sha256 } from '../../../core/sha256.ts'
import type { MadeUpUpstream } from '../../support/made-up-upstream.ts'
import type { Random } from '../../support/random.ts'
import { ensure } from '../run.ts'
import { isMark, revisionOf, type Shelf } from './shelf.ts'

interface Line {
  readonly vers: string
  readonly cksum: string
  readonly yanked: boolean
}

interface Lock {
  readonly name: string
  readonly vers: string
  readonly cksum: string
}

/** What one process has shown of a crate. */
interface Shown {
  readonly versions: Set<string>
  revision: number
}

/** The clients of a registry, what they were shown and got, and what they must be from then on. */
export class Visitors {
  readonly counts = new Map<string, number>()
  readonly locks: Lock[] = []
  readonly #ask: (path: string) => Promise<Response>
  readonly #made: MadeUpUpstream
  /** The first line of each version, unyanked; what has come at least once. */
  readonly #first = new Map<string, string>()
  readonly #came = new Set<string>()
  readonly #shown = new Map<string, Shown>()

  constructor(ask: (path: string) => Promise<Response>, made: MadeUpUpstream) {
    this.#ask = ask
    this.#made = made
  }

  /** Resolves to the newest version that is not yanked, and locks it when its bytes come. */
  async fresh(shelf: Shelf, random: Random): Promise<void> {
    const lines = await this.index(shelf, random)
    const line = lines?.filter(({ vers, yanked }) => !yanked && !isMark(vers)).at(-1)
    if (!line) return
    const lock = { name: shelf.name, vers: line.vers, cksum: line.cksum }
    if (await this.#crate(lock, random)) this.locks.push(lock)
    this.count('fresh builds')
  }

  /** Builds what was locked, perhaps without any cache: nothing may be missing. */
  async locked(shelf: Shelf, lock: Lock, random: Random): Promise<void> {
    const lines = await this.index(shelf, random)
    const spec = `${lock.name}@${lock.vers}`
    const line = lines?.find(({ vers }) => vers === lock.vers)
    ensure(line?.cksum === lock.cksum, `${spec} is locked to ${lock.cksum}: ${line?.cksum}`)
    ensure(await this.#crate(lock, random), `the bytes of ${spec} came once, and not again`)
    this.count('locked builds')
  }

  /** Reads an index file; null when it does not come, which is so only before it has ever come. */
  async index({ name, path }: Shelf, random: Random): Promise<Line[] | null> {
    const before = this.seen('daemon', name)
    const answer = await this.#get(random.pick([`/upstream/up${path}`, path]))
    if (answer.headers.has('warning')) this.count('stale answers')
    if (answer.status === 200) return this.look('daemon', name, before, answer.bytes.toString())
    ensure(before.versions.size === 0, `${name} was there, and now it is ${answer.status}`)
    return null
  }

  /** Compares an index file with everything that was shown when it was asked for. */
  look(view: string, name: string, before: Shown, text: string): Line[] {
    const lines = text.split('\n').slice(0, -1)
    const read = lines.map(line => JSON.parse(line) as Line)
    for (const [at, { vers }] of read.entries()) {
      const line = lines[at]?.replace('"yanked":true', '"yanked":false') ?? ''
      const first = this.#first.get(`${name}@${vers}`) ?? line
      ensure(line === first, `${view}: a line changed from\n${first}\nto\n${line}`)
      this.#first.set(`${name}@${vers}`, first)
    }
    const versions = new Set(read.map(({ vers }) => vers))
    for (const vers of before.versions)
      ensure(versions.has(vers), `${view}: the line of ${name}@${vers} has vanished`)
    const revision = revisionOf(read) ?? before.revision
    const words = `${view}: revision ${revision} of ${name} follows ${before.revision}`
    ensure(revision >= before.revision, words)
    const now = this.seen(view, name)
    const all = new Set([...now.versions, ...versions])
    this.#shown.set(`${view} ${name}`, {
      versions: all,
      revision: Math.max(revision, now.revision),
    })
    return read
  }

  /** Asks for names that no upstream must hear of. */
  async own(random: Random): Promise<void> {
    const name = random.pick(['ours', 'OURS', 'team-new', 'Team_other'])
    const path = this.#made.pathOf(name)
    await this.#get(random.pick([path, `/crates/${name}/${name}-1.0.0.crate`]))
    const heard = this.#made.requests.lines.find(line => /ours|team/i.test(line))
    ensure(heard === undefined, `an own name arrived at the upstream: ${heard}`)
  }

  /** Returns what a process has shown of a crate until now. */
  seen(view: string, name: string): Shown {
    return this.#shown.get(`${view} ${name}`) ?? { versions: new Set(), revision: 0 }
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by)
  }

  async #crate({ name, vers, cksum }: Lock, random: Random): Promise<boolean> {
    const hasCome = this.#came.has(cksum)
    const path = random.pick([
      `/upstream/up/crates/${name}-${vers}-${cksum}.crate`,
      `/upstream/up/crates/${name}/${vers}/download`,
      `/crates/${name}/${name}-${vers}.crate`,
    ])
    const answer = await this.#get(path)
    ensure(!hasCome || answer.status === 200, `${path} came once, and now it is ${answer.status}`)
    if (answer.status !== 200) return false
    ensure(sha256(answer.bytes) === cksum, `wrong bytes for ${path}`)
    this.#came.add(cksum)
    return true
  }

  async #get(path: string) {
    const answer = await this.#ask(path)
    const bytes = Buffer.from(await answer.arrayBuffer())
    const { status, headers } = answer
    ensure([200, 404, 503].includes(status), `${path}: ${status}`)
    ensure(status !== 503 || headers.has('retry-after'), `${path}: 503 without Retry-After`)
    this.count(`answers of ${status}`)
    return { status, headers, bytes }
  }
}
