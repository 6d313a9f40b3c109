import assert from 'node:assert/strict'
import { test } from 'node:test'
import { termsOf } from '../../../core/search/terms.ts'
import { wordsOf } from '../../../core/search/words.ts'
import type { Database } from '../../../generator/database/connection.ts'
import { all, one, run } from '../../../generator/database/statement.ts'
import { refreshSearch } from '../../../generator/projections/search/change.ts'
import { searchCrates } from '../../../generator/projections/search/search.ts'
import { refreshListings } from '../../../generator/records/crate-change.ts'
import { settleMarks } from '../../../generator/records/marks.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { TestRegistry } from '../../support/registry.ts'
import { ownDependency } from '../../support/release.ts'
import { searchFor } from '../../support/render-search.ts'
import { listMarks } from '../../support/rows.ts'

/** Everything that is derived from crates and releases. */
function derived(database: Database): Promise<unknown> {
  const texts = [
    'SELECT * FROM listings ORDER BY crate_id',
    'SELECT * FROM dependents ORDER BY dependency, dependent',
    'SELECT * FROM labels WHERE crates > 0 ORDER BY id',
    'SELECT * FROM crate_labels ORDER BY 1, 2, 3',
    'SELECT crate_id FROM search_crates ORDER BY crate_id',
    'SELECT * FROM search_terms ORDER BY term',
  ]
  return Promise.all(texts.map(text => all(database, text)))
}

async function anew(registry: Registry): Promise<unknown> {
  const { database, followers } = registry
  await run(database, "DELETE FROM facts WHERE key = 'listings'")
  await run(database, 'DELETE FROM search_terms')
  await run(database, 'DELETE FROM search_crates')
  await refreshListings({ database, followers })
  return searched(registry)
}

/** What is derived once searches know all crates. */
async function searched(registry: Registry): Promise<unknown> {
  const { database } = registry
  const crates = (await listMarks(database, 'search')).filter(mark => mark.subject < 1000)
  for (const mark of crates) await refreshSearch(registry, mark)
  await settleMarks(database, crates)
  return derived(database)
}

test('what each change makes of the listings is what making them anew gives', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const { database } = registry.registry
  // Nobody else derives what is derived here.
  await registry.indexWorker.pages.close(600)
  let state = 7
  // The same in every run.
  const roll = (sides: number) => {
    state = (state * 75 + 74) % 65_537
    return state % sides
  }
  const words = ['parser', 'fast', 'rust', 'json', 'Über']
  const crates = ['alpha', 'beta-two', 'gamma_x', 'delta']
  const published: [string, string][] = []
  for (let step = 0; step < 60; step++) {
    const move = roll(10)
    const [name, version] = published[roll(published.length)] ?? ['', '']
    if (move < 6 || name === '') {
      const [crate = '', other = ''] = [crates[roll(4)], crates[roll(4)]]
      const number = `${roll(3)}.${roll(3)}.${step}${roll(3) === 0 ? '-pre' : ''}`
      const depends = crate !== other && roll(2) === 0 ? [ownDependency(other, { req: '*' })] : []
      const manifest = [
        `[package]\nname = "${crate}"\nversion = "${number}"\nlicense = "MIT"`,
        `description = "${words[roll(5)]} ${words[roll(5)]}"\nkeywords = ["${words[roll(4)]}"]`,
        `categories = ["${['science', 'science::robotics', 'no-std'][step % 3]}"]`,
        ...depends.map(dependency => dependency.manifest),
      ].join('\n')
      const deps = depends.map(dependency => dependency.metadata)
      const { body } = await registry.publish(
        token,
        { name: crate, version: number, manifest },
        { deps },
      )
      if (!('errors' in body)) published.push([crate, number])
    } else if (move < 9) {
      const verb = roll(3) === 0 ? ['PUT', 'unyank'] : ['DELETE', 'yank']
      await registry.request(verb[0] ?? '', `/api/v1/crates/${name}/${version}/${verb[1]}`, token)
    } else {
      await registry.delete(name, version)
      published.splice(
        published.findIndex(answer => answer[0] === name && answer[1] === version),
        1,
      )
    }
    // In between, searches know crates only by what they were some changes before.
    if (roll(3) === 0 || step === 59)
      assert.deepEqual(
        await searched(registry.registry),
        await anew(registry.registry),
        `after step ${step}`,
      )
  }
  assert.ok(published.length > 15, `${published.length}`)
  const { n } = await one<{ n: number }>(database, 'SELECT count(*) AS n FROM dependents')
  assert.ok(n > 0)
})

test('a crate whose last version is deleted is in no list, and back with the next', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  await registry.publish(token, { name: 'gone', version: '1.0.0' })
  await registry.delete('gone')
  const total = async () =>
    (await searchCrates(registry.registry, searchFor(''), { limit: 10, offset: 0 })).total
  assert.equal(await total(), 0)
  assert.equal((await registry.request('GET', '/api/v1/crates/gone')).status, 404)
  await registry.publish(token, { name: 'gone', version: '1.0.1' })
  assert.equal(await total(), 1)
})

test('words: letters and digits of any script, lower case, without accents', () => {
  for (const [text = '', words] of [
    ['It’s a Fast_JSON-parser (v2)', 'it s a fast json parser v2'],
    ['Ångström ﬁne ① ǅ 数据库 שלום', 'angstrom fine 1 dz 数据库 שלום'],
    ['\ud800 \u0000 💥 — …', ''],
  ])
    assert.equal(wordsOf(text).join(' '), words)
})

test('a description of very many words is found by the first 200', () => {
  const long = Array.from({ length: 300 }, (_, at) => `w${at}`).join(' ')
  assert.equal(termsOf({ canonical: 'z', keywords: [], description: long }).size, 201)
})
