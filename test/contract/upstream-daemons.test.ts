// Several daemons that keep what an upstream says in one place.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Mutex } from '../../core/async/mutex.ts'
import { parseName } from '../../core/name.ts'
import { parseVersion } from '../../core/version.ts'
import { FolderPlace } from '../../generator/places/folder-place.ts'
import type { Place } from '../../generator/places/place.ts'
import { UpstreamCounts } from '../../generator/upstream/counts.ts'
import { CrateIndex } from '../../generator/upstream/crate-index.ts'
import { readKnown } from '../../generator/upstream/known-crates.ts'
import { WebFailure } from '../../generator/web/failure.ts'
import type { Web, WebAnswer } from '../../generator/web/web.ts'
import { Cleanup } from '../support/cleanup.ts'
import { bucketOn } from '../support/s3/bucket.ts'
import { startEngine } from '../support/s3/engine.ts'
import { folderOf } from '../support/workplace.ts'

const places: Readonly<Record<string, (t: TestContext) => Promise<Place> | Place>> = {
  folder: t => new FolderPlace(join(folderOf(t), 'place'), { sync: 'never', mutex: new Mutex() }),
  bucket: async t => bucketOn(await startEngine(new Cleanup(t)), 'upstream/up'),
}

const demo = parseName('demo')
const ROUNDS = 60

/** The time, in milliseconds since 1970. */
let clock = Date.UTC(2026, 10, 20)

const lineOf = (version: string, cksum = '0') =>
  JSON.stringify({
    ...{ name: 'demo', vers: version, deps: [], cksum: cksum.repeat(64), features: {} },
    yanked: false,
  })

/** The file of an upstream at a time: `1.0.0` to `1.0.N`. */
function fileAt(generation: number): WebAnswer {
  const lines = Array.from({ length: generation + 1 }, (_, patch) => `${lineOf(`1.0.${patch}`)}\n`)
  return {
    ...{ status: 200, bytes: Buffer.from(lines.join('')), etag: `"${generation}"` },
    lastModified: new Date(Date.UTC(2026, 0, 1, 0, 0, generation)).toUTCString(),
  }
}

const unchanged: WebAnswer = { status: 304, bytes: Buffer.alloc(0), etag: null, lastModified: null }

/** A daemon's index of the upstream, whose requests `ask` answers. */
function daemon(place: Place, ask: Web['ask']): CrateIndex {
  return new CrateIndex({
    ...{
      url: 'https://up.test/',
      place,
      web: { ask },
      counts: new UpstreamCounts(),
      isShared: true,
    },
    now: () => new Date(clock),
    onAlarm: async () => {},
  })
}

/** A request that waits for its answer; `asked` resolves when it has come. */
function heldUp() {
  const gate = new EventEmitter()
  const [asked, answered] = [once(gate, 'asked'), once(gate, 'answer')]
  const ask = async (): Promise<WebAnswer> => {
    gate.emit('asked')
    const [answer] = await answered
    return answer
  }
  return {
    ...{ ask, asked },
    resolve: (answer: WebAnswer) => gate.emit('answer', answer),
    reject: (error: Error) => gate.emit('error', error),
  }
}

const newestOf = async (index: CrateIndex) =>
  [...((await index.find(demo, -1)).crate?.lines.keys() ?? [])].at(-1)

for (const [kind, open] of Object.entries(places)) {
  test(`${kind}: a daemon whose upstream confirms an old file, or is away, shows the newer one of another`, async t => {
    const place = await open(t)
    let generation = 0
    const other = daemon(place, async () => fileAt(generation))
    await newestOf(other)
    const endings: ((held: ReturnType<typeof heldUp>) => void)[] = [
      held => held.resolve(unchanged),
      held => held.reject(new WebFailure('https://up.test/', 'away', { isNetwork: true })),
    ]
    for (const end of endings) {
      const held = heldUp()
      const slow = daemon(place, held.ask)
      const early = newestOf(slow)
      await held.asked
      generation++
      assert.equal(await newestOf(other), `1.0.${generation}`)
      // Who asks now gets the answer of the request that is on its way.
      const late = newestOf(slow)
      end(held)
      assert.deepEqual([await early, await late], [`1.0.${generation}`, `1.0.${generation}`])
    }
  })

  test(`${kind}: of two first lines of a version one stays, for all daemons`, async t => {
    const place = await open(t)
    const file = (cksum: string): WebAnswer => ({
      ...fileAt(0),
      bytes: Buffer.from(`${lineOf('1.0.0', cksum)}\n`),
      etag: `"${cksum}"`,
    })
    const daemons = ['a', 'b'].map(cksum => daemon(place, async () => file(cksum)))
    const version = parseVersion('1.0.0')
    const shown = async () => {
      const all = await Promise.all(daemons.map(index => index.find(demo, -1)))
      return all.map(({ crate }) => crate?.lines.get(version)?.cksum.charAt(0))
    }
    const [first] = await shown()
    assert.ok(first === 'a' || first === 'b')
    assert.deepEqual(
      [await shown(), await shown()],
      [
        [first, first],
        [first, first],
      ],
    )
  })

  test(`${kind}: whoever asks after an answer gets no older file, at whatever daemon`, async t => {
    const place = await open(t)
    let now = 0
    let attempt = 0
    // Copies of the upstream are up to two files behind; nothing is random, so that it can be repeated.
    const ask: Web['ask'] = async (_, { etag }) => {
      const file = fileAt(Math.max(0, now - (attempt++ % 3)))
      return etag === file.etag ? unchanged : file
    }
    const daemons = Array.from({ length: 3 }, () => daemon(place, ask))
    let answered = -1
    const visit = async (index: CrateIndex) => {
      const before = answered
      const version = await newestOf(index)
      const generation = Number(version?.split('.')[2])
      assert.ok(generation >= before, `${generation} after ${before}`)
      answered = Math.max(answered, generation)
    }
    for (let round = 0; round < ROUNDS; round++) {
      now++
      // Failures, such as an older file, are forgotten by then.
      clock += 11_000
      await Promise.all(daemons.flatMap(index => [visit(index), visit(index)]))
    }
    const kept = await readKnown(place, demo)
    assert.equal(kept?.crate.lines.size, answered + 1, 'a first line is lost')
    assert.ok(answered > ROUNDS - 3)
  })
}
