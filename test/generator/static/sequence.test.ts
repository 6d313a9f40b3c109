// Mirrors generator/static/changes.ts

import { test } from 'node:test'
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
