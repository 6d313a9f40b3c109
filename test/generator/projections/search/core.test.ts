// Mirrors generator/projections/search/change.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { value } from '../../../../generator/database/statement.ts'
import { buildPages } from '../../../../generator/pages/pages.ts'
import { searchCrates } from '../../../../generator/projections/search/search.ts'
import { onOwn, remove } from '../../../support/dependents.ts'
import { sumsBelow } from '../../../support/folder.ts'
import { searchFor } from '../../../support/render-search.ts'
import { addCrate, newRegistry } from '../../../support/workplace.ts'

const says = (keyword: string) => `keywords = ["${keyword}"]\n`

test('a crate is found by what its core says, before it, and as long as it is its core', async t => {
  const registry = await newRegistry(t)
  const { database, tree } = registry
  const add = (name: string, version: string, manifest: string) =>
    addCrate(registry, { name, version, manifest })
  /** Returns what a search finds, after the files are found to be those of a whole build. */
  const found = async (q: string) => {
    await buildPages(registry, { kinds: ['search'] })
    const sums = sumsBelow(tree.path('search'))
    await buildPages(registry, { kinds: ['search'], all: true })
    assert.deepEqual(sumsBelow(tree.path('search')), sums)
    const { ids } = await searchCrates(registry, searchFor(q), { limit: 9, offset: 0 })
    const name = (id: number) => value(database, 'SELECT name FROM crates WHERE id = ?', id)
    return Promise.all(ids.map(name))
  }
  // The core comes first, as it does in a registry that is filled by hand, and without a user.
  await add('axum-core', '1.0.0', says('framework'))
  assert.deepEqual(await found('framework'), ['axum-core'])
  await add('axum', '1.0.0', `${says('web')}${onOwn('axum-core', '1')}`)
  assert.deepEqual(await found('framework'), ['axum', 'axum-core'])
  assert.deepEqual(await found('web framework'), ['axum'])
  // What depends on the core counts for the whole.
  for (const name of ['one', 'two', 'three']) await add(name, '1.0.0', onOwn('axum-core', '1'))
  await add('rival', '1.0.0', says('framework'))
  await add('user', '1.0.0', onOwn('rival', '1'))
  assert.deepEqual(await found('framework'), ['axum', 'axum-core', 'rival'])
  // A copy of a dependency from elsewhere is one, too; a crate that is not required is none.
  await add('tide-core', '1.0.0', says('framework'))
  await add('tide', '1.0.0', '[dependencies]\ntide-core = "1"\n')
  await add('warp', '1.0.0', '')
  await add('warp-core', '1.0.0', says('filters'))
  assert.deepEqual(await found('framework'), ['axum', 'axum-core', 'rival', 'tide', 'tide-core'])
  assert.deepEqual(await found('filters'), ['warp-core'])
  await add('axum-core', '1.1.0', says('routing'))
  assert.deepEqual(await found('framework'), ['rival', 'tide', 'tide-core'])
  assert.deepEqual(await found('routing'), ['axum', 'axum-core'])
  await remove(registry, 'axum-core', '1.1.0')
  assert.deepEqual(await found('framework'), ['axum', 'axum-core', 'rival', 'tide', 'tide-core'])
  await remove(registry, 'axum-core', '1.0.0')
  assert.deepEqual(await found('framework'), ['rival', 'tide', 'tide-core'])
})
