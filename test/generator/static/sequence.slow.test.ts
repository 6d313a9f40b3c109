// Mirrors generator/static/changes.ts

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { buildStatic } from '../../../generator/static/build.ts'
import { sumsBelow } from '../../support/folder.ts'
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

test('builds of two folders into one tree follow each other, also with other caches or none', async t => {
  const folder = folderOf(t)
  const [one, other] = ['one', 'other'].map((name, at) => {
    const sequence = new StaticSequence(new Random(at + 1), join(folder, name))
    sequence.fill(6)
    return sequence
  }) as [StaticSequence, StaticSequence]
  const treeOf = async (sequence: StaticSequence) => {
    const out = join(folder, 'alone')
    rmSync(out, { recursive: true, force: true })
    await buildStatic(sequence.job(out, null))
    return sumsBelow(out)
  }
  const whole = [await treeOf(one), await treeOf(other)]
  for (const cache of [null, join(folder, 'cache')]) {
    const out = join(folder, `out-${cache === null}`)
    await Promise.all([buildStatic(one.job(out, null)), buildStatic(other.job(out, cache))])
    const found = sumsBelow(out)
    assert.ok(
      whole.some(sums => isDeepStrictEqual(sums, found)),
      'the tree is of neither folder',
    )
  }
})
