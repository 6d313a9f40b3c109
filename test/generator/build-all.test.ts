import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from '../../generator/build/build.ts'
import { hookTree } from '../support/tree-hook.ts'
import { addCrate, newRegistry } from '../support/workplace.ts'

test('--all looks for half-written files once in each folder, not for each of its crates', async t => {
  const registry = await newRegistry(t)
  for (const name of ['demo', 'demon', 'demos', 'other'])
    await addCrate(registry, { name, version: '1.0.0' })
  await build(registry)
  const swept: string[] = []
  hookTree(registry.tree, tree => {
    const { sweep } = tree
    tree.sweep = folder => {
      swept.push(folder)
      return sweep.call(tree, folder)
    }
  })
  await build(registry, { all: true })
  assert.deepEqual(swept.sort(), ['index/de/mo', 'index/ot/he'])
})

test('--all does not wait for its end with what it syncs when that are many files', async t => {
  const registry = await newRegistry(t)
  for (const name of ['demo', 'other']) await addCrate(registry, { name, version: '1.0.0' })
  await build(registry)
  const syncs: number[] = []
  const { tree } = registry
  const { newBatch } = tree
  tree.newBatch = mutex => {
    const batch = newBatch.call(tree, mutex)
    const { sync } = batch
    const at = syncs.push(0) - 1
    batch.sync = () => {
      syncs[at] = (syncs[at] ?? 0) + 1
      return sync.call(batch)
    }
    return Object.defineProperty(batch, 'size', { value: 250_000 })
  }
  await build(registry, { all: true })
  assert.ok(Math.max(...syncs) > 1, `${syncs}`)
})
