import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { issue, Refusal, refuse } from '../../../../core/error/error.ts'
import type { Name } from '../../../../core/name.ts'
import { crateKey } from '../../../../core/paths/crates.ts'
import { run } from '../../../../generator/database/statement.ts'
import { build } from '../../../../generator/pages/build.ts'
import type { Follower } from '../../../../generator/records/crate-change.ts'
import type { Permit } from '../../../../generator/records/releases-stored.ts'
import { readValue } from '../../../../generator/records/values.ts'
import { type Publication, PublishQueue } from '../../../../generator/registry/changes/publish.ts'
import type { Registry } from '../../../../generator/registry/registry.ts'
import { verifyCrates } from '../../../../generator/verify/crates.ts'
import { buildCrate, type CrateParts } from '../../../support/crate-builder.ts'
import { settle } from '../../../support/event-loop.ts'
import { findingsOf } from '../../../support/findings.ts'
import { gate } from '../../../support/gate.ts'
import { withQueryHook } from '../../../support/query-hook.ts'
import { listMarks } from '../../../support/rows.ts'
import { hookTree } from '../../../support/tree-hook.ts'
import { until } from '../../../support/until.ts'
import {
  indexVersions,
  newRegistry,
  OPERATOR,
  once,
  storedPath,
} from '../../../support/workplace.ts'

const DEMO = { name: 'demo', version: '1.0.0' }
const THREE = [0, 1, 2].map(at => ({ name: `demo-${at}`, version: '1.0.0' }))

/** A registry and its queue, with a count of the turns that the process mutex has given. */
async function prepare(t: TestContext) {
  const registry = await newRegistry(t)
  await build(registry)
  const queue = new PublishQueue(registry)
  let turns = 0
  const take = registry.mutex.run
  registry.mutex.run = work => {
    turns++
    return take.call(registry.mutex, work) as ReturnType<typeof work>
  }
  return { registry, queue, turns: () => turns }
}

async function publish(
  registry: Registry,
  queue: PublishQueue,
  parts: CrateParts,
  permit?: Permit,
): Promise<Publication> {
  const bytes = await registry.crates.stage(once(buildCrate(parts)), 1 << 20)
  try {
    const submission = { bytes, pubtime: OPERATOR.at, ...(permit && { permit }) }
    const published = await queue.publish(submission, OPERATOR)
    await published.shown
    return published
  } finally {
    await bytes.discard()
  }
}

/** What `verify` says of the crates. */
const findings = (registry: Registry) =>
  findingsOf(verifyCrates(registry, { repair: false, served: true }))

test('publishes that meet share turns; each is in its index file when it is answered', async t => {
  const { registry, turns } = await prepare(t)
  let checked = 0
  const database = withQueryHook(registry.database, sql => {
    if (sql.includes('takenId')) checked++
  })
  const queue = new PublishQueue({ ...registry, database })
  const { opened, open } = gate()
  const busy = registry.mutex.run(() => opened)
  const publishing = Promise.all(
    Array.from({ length: 12 }, async (_, at) => {
      const version = `1.0.${at >> 1}`
      const name = at % 2 ? 'odd-one' : 'even'
      await publish(registry, queue, { name, version })
      const path = at % 2 ? 'index/od/d-/odd-one' : 'index/ev/en/even'
      assert.ok(indexVersions(registry, path).includes(version))
    }),
  )
  await until(
    () => checked >= 12,
    () => `${checked} of 12 are checked`,
  )
  open()
  await Promise.all([busy, publishing])
  assert.ok(turns() < 12, `${turns()} turns for 12 publishes`)
  assert.deepEqual(await findings(registry), [])
})

test('of equal publishes one adds the release; a refused one takes no bytes from the others', async t => {
  const { registry, queue } = await prepare(t)
  const no: Permit = () =>
    Promise.reject(new Refusal([issue('crates_too_many', { login: 'alice', max: 1 })]))
  const ends = await Promise.allSettled([
    publish(registry, queue, DEMO, no),
    publish(registry, queue, DEMO),
    publish(registry, queue, DEMO, no),
    publish(registry, queue, DEMO),
  ])
  const outcomes = ends.map(end => (end.status === 'fulfilled' ? end.value.outcome : 'refused'))
  assert.deepEqual(outcomes.sort(), ['added', 'present', 'refused', 'refused'])
  assert.deepEqual(await findings(registry), [])
})

test('bytes stay when nobody knows whether their release was or will be recorded', async t => {
  const { registry, queue } = await prepare(t)
  const unknown: Permit = () =>
    Promise.reject(new Refusal([issue('commit_unknown', { reason: 'gone' })]))
  await assert.rejects(publish(registry, queue, DEMO, unknown), /gone/)
  const kept: string[] = []
  for await (const key of registry.crates.list()) kept.push(key)
  assert.equal(kept.length, 1)
  await publish(registry, queue, DEMO)
  assert.deepEqual(await findings(registry), [])
})

/** Publishes three new crates in one turn; `permit` is for the second, or another one. */
async function meet(
  t: TestContext,
  permit: Permit | undefined,
  crates: readonly CrateParts[] = THREE,
  which = 1,
  more: readonly Follower[] = [],
) {
  const registry = await newRegistry(t)
  await build(registry)
  let checked = 0
  const database = withQueryHook(registry.database, async sql => {
    // The last query before a publish waits.
    if (sql.includes('skeleton IN')) checked++
  })
  const followers = [...registry.followers, ...more]
  const queue = new PublishQueue({ ...registry, database, followers })
  const { opened, open } = gate()
  const held = registry.mutex.run(() => opened)
  const ends = Promise.allSettled(
    crates.map((parts, at) => publish(registry, queue, parts, at === which ? permit : undefined)),
  )
  await until(() => checked === 3, 'the publishes do not meet')
  await settle()
  open()
  await held
  return { registry, queue, ends: await ends, statuses: (await ends).map(end => end.status) }
}

test('an error of one publish undoes what it did, and nothing of the others in its turn', async t => {
  const { registry, statuses } = await meet(t, async tx => {
    await run(tx, "INSERT INTO facts (key, value) VALUES ('half', 'done')")
    throw new Error('a bug')
  })
  assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled'])
  assert.equal(await readValue(registry.database, 'half'), null)
  assert.deepEqual(indexVersions(registry, 'index/de/mo/demo-2'), ['1.0.0'])
})

test('a follower that fails at one crate fails the publish of that crate, and no other of its turn', async t => {
  const picky: Follower = {
    kind: 'picky',
    work: 'nothing',
    async changed(_, { crate }) {
      if (crate.name === 'demo-1') throw new Error('a bug')
      return []
    },
  }
  const { registry, statuses } = await meet(t, undefined, THREE, 1, [picky])
  assert.deepEqual(statuses, ['fulfilled', 'rejected', 'fulfilled'])
  assert.deepEqual(indexVersions(registry, 'index/de/mo/demo-2'), ['1.0.0'])
  assert.equal(await registry.tree.read('index/de/mo/demo-1'), null)
})

test('when the transaction of a turn is lost, all of its publishes fail and may be repeated', async t => {
  const { registry, queue, statuses } = await meet(t, async tx => {
    await run(tx, 'ROLLBACK')
    throw new Error('a bad disk')
  })
  assert.deepEqual(statuses, ['rejected', 'rejected', 'rejected'])
  assert.equal(await registry.tree.read('index/de/mo/demo-0'), null)
  for (const parts of THREE) assert.equal((await publish(registry, queue, parts)).outcome, 'added')
  assert.deepEqual(await findings(registry), [])
})

test('of a lost turn nobody is refused for what another one of it would have published', async t => {
  const lose: Permit = async tx => {
    await run(tx, 'ROLLBACK')
    throw new Error('a bad disk')
  }
  const other = { ...DEMO, files: { 'src/lib.rs': '// other bytes' } }
  const { ends } = await meet(t, lose, [DEMO, other, { name: 'last', version: '1.0.0' }], 2)
  const reasons = ends.map(end => (end.status === 'rejected' ? end.reason : null))
  assert.ok(reasons.every(reason => reason instanceof Error && !(reason instanceof Refusal)))
})

test('what is refused leaves no bytes behind', async t => {
  const { registry, queue } = await prepare(t)
  let cksum = ''
  const refused = publish(registry, queue, DEMO, async tx => {
    assert.ok(tx)
    for await (const key of registry.crates.list()) cksum = key.slice(-70, -6)
    throw new Refusal([issue('crates_too_many', { login: 'alice', max: 1 })])
  })
  await assert.rejects(refused, Refusal)
  assert.match(cksum, /^[0-9a-f]{64}$/, 'the bytes were stored before the transaction')
  assert.equal(existsSync(storedPath(registry, crateKey('demo' as Name, cksum))), false)
})

test('a bucket that fails is not asked to remove what it may have stored: that would fail as late', async t => {
  const { registry, queue } = await prepare(t)
  const { place } = registry.crates
  place.put = async () => refuse('bucket_unreachable', { reason: 'PUT 503' })
  place.remove = async () => refuse('bucket_unreachable', { reason: 'DELETE 503' })
  await assert.rejects(publish(registry, queue, DEMO), /PUT 503/)
})

test('what is rendered while others settle keeps its marks until it settles itself', async t => {
  const { registry, queue } = await prepare(t)
  const begun = gate()
  const open = gate()
  hookTree(registry.tree, tree => {
    const write = tree.writeAll.bind(tree)
    tree.writeAll = async (...args) => {
      begun.open()
      await open.opened
      return write(...args)
    }
  })
  const published = publish(registry, queue, DEMO)
  await begun.opened
  await queue.settle()
  open.open()
  await published
  assert.equal((await listMarks(registry.database, 'index')).length, 1)
  await queue.settle()
  assert.equal((await listMarks(registry.database, 'index')).length, 0)
})

test('a crate that cannot be rendered is recorded all the same, and keeps its mark', async t => {
  const { registry, queue } = await prepare(t)
  const unhook = hookTree(registry.tree, tree => {
    tree.writeAll = () => Promise.reject(new Error('a bad block'))
  })
  const broken = new Error('a bad block')
  await assert.rejects(publish(registry, queue, DEMO), broken)
  unhook()
  await queue.settle()
  assert.equal((await listMarks(registry.database, 'index')).length, 1)
  const again = await publish(registry, queue, DEMO)
  assert.equal(again.outcome, 'present')
  await queue.settle()
  assert.deepEqual(await findings(registry), [])
})

test('when the mutex cannot be taken, every publish that waits fails, and the next may work', async t => {
  const { registry, queue } = await prepare(t)
  const take = registry.mutex.run
  registry.mutex.run = () => Promise.reject(new Error('no lock file'))
  const failed = await Promise.allSettled([
    publish(registry, queue, DEMO),
    publish(registry, queue, { name: 'demo', version: '1.0.1' }),
  ])
  assert.deepEqual(
    failed.map(end => end.status),
    ['rejected', 'rejected'],
  )
  registry.mutex.run = take
  assert.equal((await publish(registry, queue, DEMO)).outcome, 'added')
})
