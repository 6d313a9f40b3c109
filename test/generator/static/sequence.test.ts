// Mirrors generator/static/changes.ts

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildStatic } from '../../../generator/static/build.ts'
import { Random } from '../../support/random.ts'
import { StaticSequence } from '../../support/static-sequence.ts'
import { folderOf } from '../../support/workplace.ts'

test('after any changes of folder, tree and cache the tree is one that is built from nothing', async t => {
  const seed = Number(process.env.PLIMSOLL_SEED ?? 14)
  const sequence = new StaticSequence(new Random(seed), folderOf(t))
  sequence.fill(8)
  await sequence.build('first')
  const steps = Number(process.env.PLIMSOLL_STEPS ?? 8)
  for (let step = 1; step <= steps; step++)
    await sequence.build(`seed ${seed}, step ${step}: ${await sequence.change()}`)
})

test('two builds of one tree at once follow each other', async t => {
  const sequence = new StaticSequence(new Random(1), folderOf(t))
  sequence.fill(4)
  await sequence.build()
  sequence.fill(2)
  const job = sequence.job()
  const results = await Promise.all([buildStatic(job), buildStatic(job)])
  const changed = results.map(result => result.changed).sort((a, b) => a - b)
  assert.ok(changed[0] === 0 && (changed[1] ?? 0) > 0, `${changed}`)
  const left = results.flatMap(({ warnings }) => warnings.filter(({ code }) => /^cache/.test(code)))
  assert.deepEqual(left, [])
  assert.equal((await sequence.build('after both')).changed, 0)
})
