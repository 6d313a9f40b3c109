import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/until.ts'
import {
  assertPublished,
  assertServed,
  assertSound,
  type Candidate,
  openPublishing,
  publish,
} from './truth.ts'
import { Victim } from './victim.ts'

const PUBLISHERS = 8
const ROUNDS = 5
/** How many publishes are answered at most before the next death. */
const ANSWERS_MAX = 40

test('killed at any moment under load, the daemon keeps every version it acknowledged', async t => {
  const { cleanup, registry, token, scratch } = await openPublishing(t)
  const acknowledged: Candidate[] = []
  let unanswered: Candidate[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const daemon = new Victim(cleanup, scratch, 0, [
      'serve',
      '--dir',
      registry.dir,
      '--listen',
      '127.0.0.1:0',
    ])
    const url = await daemon.url()
    await assertSound(registry)
    for (const candidate of acknowledged) await assertServed(url, candidate)
    for (const candidate of unanswered) assertPublished(await publish(url, token, candidate))
    acknowledged.push(...unanswered)
    unanswered = []
    if (round < ROUNDS) {
      let isOver = false
      const publisher = async (number: number): Promise<void> => {
        for (let count = 0; !isOver; count++) {
          // Some crates have one publisher, some have several.
          const name = number % 2 === 0 ? `load-${round}-${number}-${count}` : 'load-shared'
          const candidate = { name, version: `${round}.${number}.${count}` }
          const answer = await publish(url, token, candidate)
          if (answer) {
            assertPublished(answer)
            acknowledged.push(candidate)
          } else unanswered.push(candidate)
        }
      }
      const load = Array.from({ length: PUBLISHERS }, (_, number) => publisher(number))
      const enough = acknowledged.length + Math.ceil(Math.random() * ANSWERS_MAX)
      await until(() => acknowledged.length >= enough, 'publishes are not answered')
      isOver = true
      daemon.child.kill('SIGKILL')
      await Promise.all(load)
    } else daemon.child.kill('SIGKILL')
    assert.equal(await daemon.ended, 'SIGKILL')
  }
  assert.ok(acknowledged.length > ROUNDS, `${acknowledged.length} versions`)
  t.diagnostic(`${acknowledged.length} versions through ${ROUNDS} deaths`)
})
