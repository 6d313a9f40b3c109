// Mirrors generator/upstream/upstream.ts: a stolen account publishes bad versions and yanks the good ones, so that
// resolvers move up. Played hour by hour, for clients that are fresh, locked and without a cache.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { parseRequirement, satisfies } from '../../../core/requirement.ts'
import { sha256 } from '../../../core/sha256.ts'
import { timestamp } from '../../../core/timestamp.ts'
import { compareVersions, parseVersion, type Version } from '../../../core/version.ts'
import { listAlarms } from '../../../generator/upstream/alarms.ts'
import { openUpstreams } from '../../../generator/upstream/open.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { MadeUpUpstream } from '../../support/made-up-upstream.ts'
import { none } from '../../support/none.ts'
import { TestRegistry } from '../../support/registry.ts'

const INDEX = '/upstream/up/index/vi/ct/victim'
const BEGIN = Date.parse('2026-08-12T06:00:00Z')
const HOUR = 3_600_000

/** Hours after the first bad version, of which the last ones are the repair by the upstream. */
type Story = Readonly<Record<number, (made: Attack) => void>>

interface Attack {
  readonly bad: (version: string) => void
  readonly yank: (...versions: string[]) => void
  readonly remove: (...versions: string[]) => void
  readonly unyank: (...versions: string[]) => void
}

const AT_ONCE: Story = {
  0: ({ bad, yank }) => {
    bad('1.1.1')
    yank('1.0.0', '1.1.0', '1.2.0')
  },
  5: ({ remove, unyank }) => {
    remove('1.1.1')
    unyank('1.0.0', '1.1.0', '1.2.0')
  },
}

const IN_STEPS: Story = {
  0: ({ bad }) => bad('1.2.1'),
  1: ({ yank }) => yank('1.2.0'),
  2: ({ bad, yank }) => {
    yank('1.1.0', '1.2.1')
    bad('1.2.2')
  },
  3: ({ bad, yank }) => {
    yank('1.0.0')
    bad('1.3.0')
  },
  9: ({ remove, unyank }) => {
    remove('1.2.1', '1.2.2', '1.3.0')
    unyank('1.0.0', '1.1.0', '1.2.0')
  },
}

/** The account deletes the good versions. */
const DELETED: Story = {
  0: ({ bad }) => bad('1.3.0'),
  1: ({ remove }) => remove('1.1.0', '1.0.0', '1.2.0'),
}

/** Nobody repairs it for more than a day. */
const LONG: Story = {
  0: ({ bad, yank }) => {
    bad('1.1.1')
    yank('1.0.0', '1.1.0', '1.2.0')
  },
}

interface Line {
  readonly vers: Version
  readonly cksum: string
  readonly yanked: boolean
  readonly pubtime: string
}

/** What a fresh build locked in an hour: by the index of the upstream itself, and by ours. */
interface Outcome {
  readonly hour: number
  readonly raw: string | null
  readonly ours: string | null
}

/** Plays a story; the locked builds must not break in any hour. `from`: when we are first asked. */
async function play(
  t: TestContext,
  story: Story,
  { guard, from = -1, hours = 12 }: { guard: boolean; from?: number; hours?: number },
): Promise<Outcome[]> {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const registry = await TestRegistry.open(t, {
    env: {
      PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
      PLIMSOLL_UPSTREAM_UP_HOLD: '7d',
      PLIMSOLL_UPSTREAM_UP_LURE_GUARD: String(guard),
    },
  })
  const name = 'victim'
  const attack: Attack = {
    bad: version => void made.publish({ name, version, pubtime: timestamp(registry.now) }),
    yank: (...versions) => void versions.map(version => made.yank(name, version)),
    unyank: (...versions) =>
      made.edit(name, lines =>
        lines.map(line => (isOf(line, versions) ? line.replace(':true', ':false') : line)),
      ),
    remove: (...versions) => made.edit(name, lines => lines.filter(line => !isOf(line, versions))),
  }
  const locks: Line[] = [
    made.publish({ name, version: '1.0.0', pubtime: '2026-01-01T00:00:00Z' }),
    made.publish({ name, version: '1.1.0', pubtime: '2026-03-01T00:00:00Z' }),
    // Good, and too young: only a lock file from elsewhere has it.
    made.publish({ name, version: '1.2.0', pubtime: '2026-08-10T00:00:00Z' }),
  ].map(line => JSON.parse(line))
  const readRaw = () => fetch(`${made}${made.pathOf(name)}`).then(answer => answer.text())
  let cached = { etag: '', text: '' }
  const outcomes: Outcome[] = []
  for (let hour = -1; hour < hours; hour++) {
    registry.now = new Date(BEGIN + hour * HOUR)
    story[hour]?.(attack)
    if (hour < from) continue
    registry.now = new Date(registry.now.getTime() + 60_000)
    const fresh = await registry.app.request(INDEX)
    const text = await fresh.text()
    outcomes.push({ hour, raw: resolve(await readRaw()), ours: resolve(text) })
    const headers = { 'if-none-match': cached.etag }
    const again = await registry.app.request(INDEX, { headers })
    if (again.status === 200)
      cached = { etag: again.headers.get('etag') ?? '', text: await again.text() }
    for (const seen of [text, cached.text])
      for (const lock of locks) await buildLocked(registry, seen, lock, hour)
  }
  return outcomes
}

function isOf(line: string, versions: readonly string[]): boolean {
  return versions.includes(JSON.parse(line).vers)
}

function linesIn(text: string): Line[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
}

/** Returns what Cargo locks for `victim = "1"` without a lock file: no yanked version. */
function resolve(text: string): Version | null {
  const requirement = parseRequirement('1')
  const fit = linesIn(text).filter(line => !line.yanked && satisfies(requirement, line.vers))
  return (
    fit
      .map(({ vers }) => vers)
      .sort(compareVersions)
      .at(-1) ?? null
  )
}

/** Builds with a lock file: its version may be yanked, and its checksum has to be the same. */
async function buildLocked(registry: TestRegistry, text: string, lock: Line, hour: number) {
  const line = linesIn(text).find(({ vers }) => vers === lock.vers)
  const what = `${lock.vers} in hour ${hour}`
  assert.equal(line?.cksum, lock.cksum, what)
  const path = `/upstream/up/crates/victim-${lock.vers}-${lock.cksum}.crate`
  const answer = await registry.app.request(path)
  assert.equal(sha256(Buffer.from(await answer.arrayBuffer())), lock.cksum, what)
}

const GOOD = [parseVersion('1.0.0'), parseVersion('1.1.0'), parseVersion('1.2.0')] as string[]
const isBad = (version: string | null) => version !== null && !GOOD.includes(version)
const failures = (outcomes: readonly Outcome[]) => outcomes.filter(({ ours }) => ours === null)

for (const [what, story] of Object.entries({ AT_ONCE, IN_STEPS })) {
  test(`with the guard no build breaks and no bad version is locked: ${what}`, async t => {
    const outcomes = await play(t, story, { guard: true })
    assert.ok(outcomes.some(({ raw }) => isBad(raw)))
    // Good ones of before the attack, and never the one that is too young.
    none(outcomes.filter(({ ours }) => ours !== '1.1.0' && ours !== '1.0.0'))
    assert.equal(outcomes.at(-1)?.ours, '1.1.0')
  })

  test(`without it, fresh builds fail just where they would get a bad one: ${what}`, async t => {
    const outcomes = await play(t, story, { guard: false })
    none(outcomes.filter(({ ours }) => isBad(ours)))
    const failed = failures(outcomes)
    assert.ok(failed.length > 0)
    none(failed.filter(({ raw }) => !isBad(raw)))
  })
}

test('the guard ends after a day; then fresh builds fail where they would get a bad one', async t => {
  const outcomes = await play(t, LONG, { guard: true, hours: 30 })
  const hours = failures(outcomes).map(({ hour }) => hour)
  assert.deepEqual(hours, [24, 25, 26, 27, 28, 29])
  assert.ok(failures(outcomes).every(({ raw }) => isBad(raw)))
})

test('good versions that are deleted: locked builds go on, and no bad version is locked', async t => {
  for (const guard of [false, true]) {
    const outcomes = await play(t, DELETED, { guard })
    assert.ok(outcomes.every(({ ours }) => !isBad(ours)))
    assert.ok(failures(outcomes).every(({ raw }) => isBad(raw)))
  }
})

test('yanks that nobody saw happen are not guarded: the crate was first asked for afterwards', async t => {
  const outcomes = await play(t, AT_ONCE, { guard: true, from: 1 })
  assert.ok(failures(outcomes).length > 0)
  assert.ok(failures(outcomes).every(({ raw }) => isBad(raw)))
  assert.ok(outcomes.every(({ ours }) => !isBad(ours)))
})

test('a lure raises one alarm, for any number of looks, processes and policies', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const env = {
    PLIMSOLL_UPSTREAM_RAW_INDEX: made.index,
    PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
    PLIMSOLL_UPSTREAM_UP_HOLD: '7d',
  }
  const registry = await TestRegistry.open(t, { env })
  const told: string[] = []
  const open = async () => {
    const upstreams = await openUpstreams(registry.registry, {
      env,
      onAlarm: (upstream, { kind, version }) => told.push(`${upstream} ${kind} ${version}`),
    })
    t.after(() => upstreams.close())
    return upstreams
  }
  const upstreams = await open()
  const name = parseName('victim')
  const look = async (all = upstreams) => {
    registry.now = new Date(registry.now.getTime() + 60_000)
    for (const upstream of all.byName.values()) await upstream.indexFile(name)
  }
  made.publish({ name, version: '1.0.0', pubtime: '2026-01-01T00:00:00Z' })
  await look()
  made.publish({ name, version: '1.0.1', pubtime: timestamp(registry.now) })
  await look()
  assert.deepEqual(told, [])
  made.yank(name, '1.0.0')
  await look()
  await look()
  await look(await open())
  assert.deepEqual(told, ['raw lure 1.0.1'])
  const place = upstreams.byName.get('up')?.source.place ?? assert.fail()
  assert.deepEqual(
    (await listAlarms(place)).map(({ kind, version }) => `${kind} ${version}`),
    ['lure 1.0.1'],
  )
})
