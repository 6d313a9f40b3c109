import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { orderBatch } from '../../../generator/registry/order.ts'
import { buildEvil } from '../../support/crate-builder.ts'
import { folderOf, newRegistry } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const OWN = 'registry-index = "sparse+https://crates.example/index/"'

/** The order of crates, written `name version` or `name version > dependency`, `!` for a broken one. */
async function order(t: TestContext, specs: readonly string[]): Promise<string[]> {
  const [registry, folder] = [await newRegistry(t), folderOf(t)]
  const paths = specs.map((spec, index) => {
    const [head = '', ...deps] = spec.split(' > ')
    const [name = '', version = ''] = head.split(' ')
    const manifest = deps
      .map(dep => `[${dep.replace(/^~/, 'dev-')}]\nversion = "1"\n${OWN}\n`)
      .join('')
    const sections = manifest.replaceAll(/\[(dev-)?([\w-]+)\]/g, '[$1dependencies.$2]')
    const parts = { name, version, manifest: sections }
    return writeCrate(join(folder, `${index}.crate`), spec === '!' ? buildEvil('not gzip') : parts)
  })
  const items = await orderBatch(registry, paths)
  return items.map(({ path }) => specs[paths.indexOf(path)] ?? '')
}

test('crates that need each other, or themselves, are all there once', async t => {
  const specs = ['a 1.0.0 > b', 'b 1.0.0 > ~a', 'c 1.0.0 > ~c', 'd 1.0.0 > elsewhere']
  assert.deepEqual((await order(t, specs)).sort(), specs)
})

test('a long chain is no problem', async t => {
  const specs = Array.from({ length: 300 }, (_, i) =>
    i === 299 ? 'n299 1.0.0' : `n${i} 1.0.0 > n${i + 1}`,
  )
  assert.deepEqual(await order(t, specs), [...specs].reverse())
})
