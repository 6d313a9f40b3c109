// Mirrors generator/check/rows/all.ts
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { Client } from '../../generator/check/client.ts'
import { subjects } from '../../generator/check/rows/all.ts'
import { play } from '../../generator/check/run.ts'
import type { Subject } from '../../generator/check/subject.ts'
import { openTarget } from '../../generator/check/target.ts'
import { Cleanup } from '../support/cleanup.ts'
import { MadeUpRegistry, type Switch, TOKEN } from './server.ts'
import { switches } from './switches.ts'

const statements = Object.values(subjects).flat()
const never = new AbortController().signal

/** Plays statements against a registry that is wrong in one way. */
async function results(registry: MadeUpRegistry, wrong: Switch, ids: readonly string[]) {
  await registry.reset(wrong)
  const client = new Client({})
  const target = await openTarget(registry.index, client)
  const subject: Subject = {
    target: { ...target, name: wrong.name ?? target.name },
    client,
    crates: [],
    token: TOKEN,
    prefix: 'check-',
    cargo: null,
    env: {},
    pauseMs: 1,
    scratch: tmpdir(),
    signal: never,
    published: [],
  }
  const chosen = statements.filter(({ id }) => ids.includes(id))
  try {
    return await play(subject, chosen, () => undefined)
  } finally {
    await client.close()
  }
}

test('a right registry passes every statement that can be tried', async t => {
  const registry = await MadeUpRegistry.start(new Cleanup(t))
  for (const isPrivate of [false, true]) {
    const all = await results(
      registry,
      { isPrivate },
      statements.map(({ id }) => id),
    )
    const fails = all.filter(({ status }) => status === 'fail')
    assert.deepEqual(
      fails.map(({ id, seen }) => `${id}: ${seen}`),
      [],
    )
    const untried = all
      .filter(({ status }) => status === 'untried')
      .map(({ id, seen }) => `${id}: ${seen}`)
    console.log(untried.join('\n'))
  }
})

test('every statement fails where the registry is wrong in just that way', async t => {
  const registry = await MadeUpRegistry.start(new Cleanup(t))
  const missing = statements.filter(({ id }) => !switches[id]).map(({ id }) => id)
  console.log(missing.length, 'without switch', missing.join(' '))
  const held: string[] = []
  for (const [id, wrong] of Object.entries(switches)) {
    const [result] = await results(registry, wrong, [id])
    if (result?.status !== 'fail') held.push(`${id}: ${result?.status} ${result?.seen}`)
  }
  assert.deepEqual(held, [])
})
