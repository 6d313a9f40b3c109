import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from '../../generator/pages/build.ts'
import { MARK_KINDS } from '../../generator/projections/projections.ts'
import { countMarks, type MarkCount } from '../../generator/records/marks.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { until } from '../support/until.ts'
import {
  assertPublished,
  assertServed,
  assertSound,
  type Candidate,
  FOR_CARGO,
  openPublishing,
  publish,
} from './truth.ts'
import { STRIDE, Victim } from './victim.ts'

function serveArguments(registry: Registry): string[] {
  return ['serve', '--dir', registry.dir, '--listen', '127.0.0.1:0']
}

/** Waits until marks are gone, or the victim is. */
async function rendered(
  { database }: Registry,
  victim: Victim,
  isWaitedFor: (mark: MarkCount) => boolean,
): Promise<void> {
  let marks: readonly MarkCount[] = []
  await until(
    async () => {
      marks = (await countMarks(database, MARK_KINDS)).filter(isWaitedFor)
      return victim.hasEnded || marks.length === 0
    },
    () => `the daemon does not come to an end with what is pending: ${JSON.stringify(marks)}`,
    // Overviews may be put off for a minute.
    2 * 60_000,
  )
}

/** A registry whose daemon dies in one publish after the other. */
class Mortal {
  readonly #place: Awaited<ReturnType<typeof openPublishing>>
  readonly #acknowledged: Candidate[] = []
  #halfDone: Candidate | null = null

  constructor(place: Awaited<ReturnType<typeof openPublishing>>) {
    this.#place = place
  }

  /**
   * Publishes to a daemon that dies before the step `at`, a number or a name, and returns that
   * step; null when there was none. What the death before has left half-done is published first.
   */
  async publish(at: number | string, candidate: Candidate): Promise<string | null> {
    const { cleanup, registry, token, scratch } = this.#place
    const daemon = new Victim(cleanup, scratch, at, serveArguments(registry))
    const url = await daemon.url()
    await assertSound(registry)
    for (const candidate of this.#acknowledged.slice(-2)) await assertServed(url, candidate)
    if (this.#halfDone) {
      assertPublished(await publish(url, token, this.#halfDone))
      this.#acknowledged.push(this.#halfDone)
    }
    this.#halfDone = candidate
    // The steps of pages that are late would come in between at random.
    await rendered(registry, daemon, () => true)
    daemon.arm()
    const answer = await publish(url, token, candidate)
    daemon.disarm()
    if (answer) {
      assertPublished(answer)
      this.#acknowledged.push(candidate)
      this.#halfDone = null
      // What follows in the background, such as pages, may have come to the fatal step.
      if (await this.#survives(daemon, url)) return null
      return `after the answer: ${daemon.steps().at(-1)}`
    }
    assert.equal(await daemon.ended, 'SIGKILL')
    return daemon.steps().at(-1)?.replace(/^\d+ /, '') ?? ''
  }

  /** Whether the daemon lives, and has everything, after what it owes readers; it ends then. */
  async #survives(daemon: Victim, url: string): Promise<boolean> {
    await rendered(this.#place.registry, daemon, ({ kind }) => FOR_CARGO.includes(kind))
    const isAlive = await fetch(`${url}/healthz`).then(
      answer => answer.ok,
      () => false,
    )
    if (isAlive) {
      for (const candidate of this.#acknowledged) await assertServed(url, candidate)
      await assertSound(this.#place.registry)
      daemon.child.kill('SIGKILL')
    }
    assert.equal(await daemon.ended, 'SIGKILL')
    return isAlive
  }
}

test('killed before steps all through a publish, the daemon loses nothing acknowledged and shows nothing half-done', async t => {
  const deaths: string[] = []
  // The write order: bytes on disk, one transaction, the public files.
  const kinds = ['sync', 'rename', 'begin', 'commit', 'insert releases', 'link']
  const missed = () => kinds.find(kind => !deaths.some(name => name.startsWith(kind)))
  /** Dies in one publish after the other until none harms. */
  const dieOf = async (candidate: (at: number) => Candidate): Promise<void> => {
    const mortal = new Mortal(await openPublishing(t))
    assert.equal(await mortal.publish(0, candidate(0)), null)
    for (let at = STRIDE; ; at += STRIDE) {
      assert.ok(at < 200, 'a publish takes fewer steps')
      const death = await mortal.publish(at, candidate(at))
      if (death === null) break
      deaths.push(death)
    }
  }
  // The two kinds do not take the same steps.
  await Promise.all([
    dieOf(at => ({ name: `crate-${at}`, version: '1.0.0' })),
    dieOf(at => ({ name: 'crate', version: `1.0.${at}` })),
  ])
  const mortal = new Mortal(await openPublishing(t))
  for (let round = 0, step = missed(); step !== undefined; round++, step = missed()) {
    assert.ok(round < 10, `no death at ${step}: ${deaths.join(', ')}`)
    const death = await mortal.publish(step, { name: `crate-${round}`, version: '1.0.0' })
    if (death !== null) deaths.push(death)
  }
  t.diagnostic(`${deaths.length} deaths: ${deaths.join(', ')}`)
})

test('killed before what it rendered is on disk and unmarked, the daemon renders it again', async t => {
  const { cleanup, registry, token, scratch } = await openPublishing(t)
  const acknowledged: Candidate[] = []
  for (const [at, step] of ['sync', 'delete marks', 'commit'].entries()) {
    const daemon = new Victim(cleanup, scratch, step, serveArguments(registry))
    const url = await daemon.url()
    await assertSound(registry)
    for (const kept of acknowledged) await assertServed(url, kept)
    const candidate = { name: `crate-${at}`, version: '1.0.0' }
    assertPublished(await publish(url, token, candidate))
    daemon.arm()
    acknowledged.push(candidate)
    assert.equal(await daemon.ended, 'SIGKILL', `killed before ${step}`)
    const marks = await countMarks(registry.database, MARK_KINDS)
    assert.ok(
      marks.some(mark => mark.kind === 'index'),
      'the mark of its index file stays',
    )
  }
  await build(registry)
  await assertSound(registry)
})
