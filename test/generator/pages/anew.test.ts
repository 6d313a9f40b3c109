// Mirrors generator/pages/
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { build } from '../../../generator/pages/build.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { sumsBelow } from '../../support/folder.ts'
import { Random } from '../../support/random.ts'
import { TestRegistry } from '../../support/registry.ts'
import { ownDependency } from '../../support/release.ts'

const NAMES = ['alpha', 'beta-two', 'gamma_x', 'delta', 'epsilon', 'zeta']
const WORDS = ['parser', 'fast', 'json']

test('after any changes the tree is one that is built from the records alone', async t => {
  const seed = Number(process.env.PLIMSOLL_SEED ?? 3)
  const random = new Random(seed)
  const registry = await TestRegistry.open(t)
  const { tree } = registry.registry
  const token = await registry.user('alice')
  const there: [name: string, version: string][] = []
  const publish = async (step: number) => {
    const [name, other] = [random.pick(NAMES), random.pick(NAMES)]
    const version = `${random.below(2)}.${step}.0${random.chance(0.2) ? '-pre' : ''}`
    const kind = random.pick(['normal', 'dev'] as const)
    const needs = name !== other ? [ownDependency(other, { req: '*', kind })] : []
    const about = `description = "${random.pick(WORDS)}"\nkeywords = ["${random.pick(WORDS)}"]`
    const head = `[package]\nname = "${name}"\nversion = "${version}"\nlicense = "MIT"\n${about}`
    const manifest = [head, ...needs.map(need => need.manifest)].join('\n')
    const deps = needs.map(need => need.metadata)
    const { body } = await registry.publish(token, { name, version, manifest }, { deps })
    if (!body.errors) there.push([name, version])
  }
  const steps = Number(process.env.PLIMSOLL_STEPS ?? 8)
  for (let step = 1; step <= steps; step++) {
    for (let change = 0; change < 5; change++) {
      const at = random.below(Math.max(there.length, 1))
      const [name, version] = there[at] ?? ['', '']
      const move = name === '' ? 0 : random.below(10)
      const address = `/api/v1/crates/${name}/${version}`
      if (move < 6) await publish(step * 10 + change)
      else if (move < 8) await registry.request('DELETE', `${address}/yank`, token)
      else if (move < 9) await registry.request('PUT', `${address}/unyank`, token)
      else await registry.delete(...(there.splice(at, 1)[0] ?? ['', '']))
    }
    await registry.indexWorker.settle()
    await registry.indexWorker.pages.flush()
    await buildPages(registry.registry)
    const found = sumsBelow(tree.root)
    rmSync(tree.root, { recursive: true })
    await build(registry.registry)
    await buildPages(registry.registry)
    const wanted = sumsBelow(tree.root)
    const paths = [...new Set([...found.keys(), ...wanted.keys()])]
    const differs = paths.filter(path => found.get(path) !== wanted.get(path))
    assert.deepEqual(differs, [], `seed ${seed}, step ${step}`)
  }
})
