import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turns } from '../../../daemon/http/turns.ts'
import { Refusal } from '../../../generator/index.ts'

test('so many work at a time, so many wait, and the next one is refused', async () => {
  const turns = new Turns(2)
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  let working = 0
  const work = async () => {
    working++
    await held
  }
  const all = [turns.run(work), turns.run(work)]
  await new Promise(setImmediate)
  for (let waiting = 0; waiting < 16; waiting++) all.push(turns.run(work))
  await new Promise(setImmediate)
  assert.equal(working, 2)
  await assert.rejects(
    turns.run(work),
    (error: unknown) => error instanceof Refusal && error.has('server_busy'),
  )
  release()
  await Promise.all(all)
  assert.equal(working, 18)
})
