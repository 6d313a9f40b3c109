import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser } from '../../daemon/accounts/accounts.ts'
import { createToken } from '../../daemon/accounts/tokens.ts'
import { build } from '../../generator/build/build.ts'
import { Cleanup } from '../support/cleanup.ts'
import { until } from '../support/until.ts'
import { folderOf, newRegistry } from '../support/workplace.ts'
import { assertPublished, assertServed, assertSound, type Candidate, publish } from './truth.ts'
import { Victim } from './victim.ts'

const PUBLISHERS = 8
const ROUNDS = 5
/** How many publishes are answered at most before the next death. */
const ANSWERS_MAX = 40

test('killed at any moment under load, the daemon keeps every version it acknowledged', async t => {
  // First, so that the last victim is dead before its folder goes.
  const cleanup = new Cleanup(t)
  const registry = await newRegistry(t)
  const at = '2026-11-20T12:00:00Z'
  const user = await addUser(registry.database, { login: 'crash', admin: false, at })
  const order = { userId: user.id, name: 'crash', scopes: null, crates: null, at, expires: null }
  const token = await createToken(registry.database, order)
  await build(registry, { all: true })
  const acknowledged: Candidate[] = []
  let unanswered: Candidate[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const daemon = new Victim(cleanup, folderOf(t), 0, [
      'serve',
      '--dir',
      registry.dir,
      '--listen',
      '127.0.0.1:0',
    ])
    const url = await daemon.url()
    await assertSound(registry)
    for (const one of acknowledged) await assertServed(url, one)
    for (const one of unanswered) assertPublished(await publish(url, token, one))
    acknowledged.push(...unanswered)
    unanswered = []
    if (round < ROUNDS) {
      let isOver = false
      const publisher = async (number: number): Promise<void> => {
        for (let count = 0; !isOver; count++) {
          // Some crates have one publisher, some have several.
          const name = number % 2 === 0 ? `load-${round}-${number}-${count}` : 'load-shared'
          const one = { name, version: `${round}.${number}.${count}` }
          const answer = await publish(url, token, one)
          if (answer) {
            assertPublished(answer)
            acknowledged.push(one)
          } else unanswered.push(one)
        }
      }
      const load = Array.from({ length: PUBLISHERS }, (_, number) => publisher(number))
      const enough = acknowledged.length + Math.ceil(Math.random() * ANSWERS_MAX)
      await until(
        () => acknowledged.length >= enough,
        () => 'publishes are not answered',
      )
      isOver = true
      daemon.child.kill('SIGKILL')
      await Promise.all(load)
    } else daemon.child.kill('SIGKILL')
    assert.equal(await daemon.ended, 'SIGKILL')
  }
  assert.ok(acknowledged.length > ROUNDS, `${acknowledged.length} versions`)
  t.diagnostic(`${acknowledged.length} versions through ${ROUNDS} deaths`)
})
