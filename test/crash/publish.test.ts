import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addUser } from '../../daemon/accounts/accounts.ts'
import { createToken } from '../../daemon/accounts/tokens.ts'
import { build } from '../../generator/build/build.ts'
import type { Registry } from '../../generator/registry.ts'
import { countMarks } from '../../generator/store/catalog/marks.ts'
import { Cleanup } from '../support/cleanup.ts'
import { until } from '../support/until.ts'
import { folderOf, newRegistry } from '../support/workplace.ts'
import { assertPublished, assertServed, assertSound, type Candidate, publish } from './truth.ts'
import { Victim } from './victim.ts'

/** A registry with a user who may publish. */
async function prepare(t: TestContext) {
  // First, so that the last victim is dead before its folder goes.
  const cleanup = new Cleanup(t)
  const registry = await newRegistry(t)
  const at = '2026-11-20T12:00:00Z'
  const user = await addUser(registry.database, { login: 'crash', admin: false, at })
  const order = { userId: user.id, name: 'crash', scopes: null, crates: null, at, expires: null }
  const token = await createToken(registry.database, order)
  await build(registry, { all: true })
  return { cleanup, registry, token, notes: folderOf(t) }
}

function serveArguments(registry: Registry): string[] {
  return ['serve', '--dir', registry.dir, '--listen', '127.0.0.1:0']
}

async function nothingPending({ database }: Registry, victim: Victim): Promise<void> {
  await until(
    async () => victim.hasEnded || (await countMarks(database)).length === 0,
    () => 'the daemon does not come to an end with what is pending',
  )
}

/** Whether the victim is alive after everything it had to do. */
async function survives(victim: Victim, registry: Registry, url: string): Promise<boolean> {
  await nothingPending(registry, victim)
  try {
    return (await fetch(`${url}/healthz`)).ok
  } catch {
    assert.equal(await victim.ended, 'SIGKILL')
    return false
  }
}

test('killed before any step of a publish, the daemon loses nothing acknowledged and shows nothing half-done', async t => {
  const { cleanup, registry, token, notes } = await prepare(t)
  const serve = (at: number | string) => new Victim(cleanup, notes, at, serveArguments(registry))
  const acknowledged: Candidate[] = []
  const deaths: string[] = []
  let halfDone: Candidate | null = null
  const missed = () => ['commit', 'insert releases'].find(name => !deaths.includes(name))
  // Before each step twice, until both are unharmed: the two kinds of publish do not take the same
  // steps. A busy database adds a step, so that a number may miss the one it should meet; that one
  // is named in the end.
  for (let turn = 2, unharmed = 0; unharmed < 2 || missed() !== undefined; turn++) {
    const at = turn >> 1
    assert.ok(at < 200, 'a publish takes fewer steps')
    const daemon = serve(unharmed < 2 ? at : (missed() ?? at))
    const url = await daemon.url()
    await assertSound(registry)
    for (const one of acknowledged.slice(-2)) await assertServed(url, one)
    if (halfDone) {
      assertPublished(await publish(url, token, halfDone))
      acknowledged.push(halfDone)
    }
    // A new crate, and a new version of it.
    halfDone = { name: `crate-${at}`, version: `1.0.${turn % 2}` }
    // The steps of pages that are late would come in between at random.
    await nothingPending(registry, daemon)
    daemon.arm()
    const answer = await publish(url, token, halfDone)
    daemon.disarm()
    if (answer) {
      assertPublished(answer)
      acknowledged.push(halfDone)
      halfDone = null
      // What follows in the background, such as pages, may have come to the fatal step.
      if (!(await survives(daemon, registry, url))) {
        deaths.push(`after the answer: ${daemon.steps().at(-1)}`)
        continue
      }
      for (const one of acknowledged) await assertServed(url, one)
      await assertSound(registry)
      daemon.child.kill('SIGKILL')
      await daemon.ended
      unharmed++
      continue
    }
    assert.equal(await daemon.ended, 'SIGKILL')
    unharmed = 0
    deaths.push(daemon.steps().at(-1)?.replace(/^\d+ /, '') ?? '')
  }
  // The write order: bytes on disk, one transaction, the public files.
  for (const kind of ['sync', 'rename', 'begin', 'commit', 'insert releases', 'link']) {
    assert.ok(
      deaths.some(name => name.startsWith(kind)),
      `no death at ${kind}: ${deaths.join(', ')}`,
    )
  }
  t.diagnostic(`${deaths.length} deaths: ${deaths.join(', ')}`)
})

test('killed before what it rendered is on disk and unmarked, the daemon renders it again', async t => {
  const { cleanup, registry, token, notes } = await prepare(t)
  const acknowledged: Candidate[] = []
  for (const [at, step] of ['sync', 'delete marks', 'commit'].entries()) {
    const daemon = new Victim(cleanup, notes, step, serveArguments(registry))
    const url = await daemon.url()
    await assertSound(registry)
    for (const one of acknowledged) await assertServed(url, one)
    const candidate = { name: `crate-${at}`, version: '1.0.0' }
    assertPublished(await publish(url, token, candidate))
    daemon.arm()
    acknowledged.push(candidate)
    assert.equal(await daemon.ended, 'SIGKILL', `killed before ${step}`)
    const marks = await countMarks(registry.database)
    assert.ok(
      marks.some(mark => mark.kind === 'index'),
      'the mark of its index file stays',
    )
  }
  await build(registry)
  await assertSound(registry)
})
