// Mirrors generator/projections/lists/projection.ts: pages of keywords and categories
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Queries, value } from '../../../generator/database/statement.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { labelsOf } from '../../../generator/projections/lists/projection.ts'
import { newestOf } from '../../../generator/records/owners.ts'
import {
  commonLabels,
  cratesInOrder,
  labelCrates,
  ORDERS,
  readFigures,
  readLabel,
  readWeeks,
  subcategories,
} from '../../../generator/records/pages/overviews.ts'
import { isOnPostgres } from '../../support/engine.ts'
import { none } from '../../support/none.ts'
import { TestRegistry } from '../../support/registry.ts'
import { ownDependency } from '../../support/release.ts'

test('labels are keywords and categories that have pages, in lowercase, with their parents', () => {
  const labels = labelsOf({
    keywords: ['JSON', 'json', 'a b', '../x'],
    categories: ['science::robotics', 'x/y'],
  })
  assert.deepEqual(
    [...labels.values()].map(({ kind, slug }) => `${kind} ${slug}`),
    ['keyword json', 'category science', 'category science::robotics'],
  )
  const many = Array.from({ length: 100_000 }, (_, at) => `k${at}`)
  assert.equal(labelsOf({ keywords: many, categories: many }).size, 32)
})

/** Publishes a crate with a keyword, a category and dependencies on other crates here. */
async function publish(registry: TestRegistry, token: string, name: string, on: string[] = []) {
  const depends = on.map(dependency => ownDependency(dependency, { req: '*' }))
  const manifest = [
    `[package]\nname = "${name}"\nversion = "1.0.0"\nlicense = "MIT"\ndescription = "d"`,
    `keywords = ["Tool"]\ncategories = ["science::robotics"]`,
    ...depends.map(dependency => dependency.manifest),
  ].join('\n')
  const deps = depends.map(dependency => dependency.metadata)
  const { body } = await registry.publish(token, { name, version: '1.0.0', manifest }, { deps })
  assert.ok(!('errors' in body), JSON.stringify(body))
}

test('crates with many dependents come first in lists; a deleted crate leaves them', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const { database } = registry.registry
  for (const name of ['aa', 'bb', 'cc']) await publish(registry, token, name)
  for (let at = 0; at < 12; at++) await publish(registry, token, `user${at}`, ['bb'])
  const tool = [...labelsOf({ keywords: ['tool'], categories: [] }).keys()][0] ?? 0
  const first = async (limit: number) => {
    return (await labelCrates(database, tool, limit)).map(card => card.name)
  }
  assert.deepEqual(await first(3), ['bb', 'user11', 'user10'])
  const label = { id: tool, kind: 'keyword', slug: 'tool', crates: 15 }
  assert.deepEqual(await readLabel(database, tool), label)
  const [science, robotics] = ['science', 'science::robotics'].map(slug => ({ slug, crates: 15 }))
  assert.deepEqual(await commonLabels(database, 'category', 5), [science, robotics])
  assert.deepEqual(await subcategories(database, 'science', 5), [robotics])
  assert.deepEqual(await subcategories(database, 'scienc', 5), [])
  assert.deepEqual(await newestOf(database, 1, 1), [15])
  for (let at = 0; at < 12; at++) await registry.delete(`user${at}`)
  assert.deepEqual(await first(5), ['cc', 'bb', 'aa'])
})

test('the page of a keyword follows the dependents of its crates, whatever labels these have', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const shown = async () => {
    await buildPages(registry.registry)
    const page = await registry.registry.tree.read('keywords/tool/index.html')
    return [...String(page).matchAll(/crates\/(aa|bb)\/"/g)].map(([, name]) => name)
  }
  for (const name of ['aa', 'bb']) await publish(registry, token, name)
  assert.deepEqual(await shown(), ['bb', 'aa'])
  for (const [at, on] of ['aa', 'bb', 'bb', 'aa', 'aa', 'aa'].entries()) {
    const { manifest, metadata } = ownDependency(on, { req: '*' })
    const parts = { name: `user${at}`, version: '1.0.0', manifest }
    await registry.publish(token, parts, { deps: [metadata] })
    if (at === 2) assert.deepEqual(await shown(), ['bb', 'aa'])
  }
  assert.deepEqual(await shown(), ['aa', 'bb'])
})

const PLANS = { skip: isOnPostgres && 'this reads the plans of SQLite' }

test(
  'the lists of pages follow an index, so that they read no more rows than they return',
  PLANS,
  async t => {
    const registry = await TestRegistry.open(t)
    const { database } = registry.registry
    const plans: string[] = []
    const planner: Queries = {
      engine: database.engine,
      async execute(sql, parameters) {
        const { rows } = await database.execute(`EXPLAIN QUERY PLAN ${sql}`, parameters)
        plans.push(...(rows as { detail: string }[]).map(row => row.detail))
        return { rows: [], changes: 0 }
      },
    }
    for (const order of ORDERS) await cratesInOrder(planner, order, 10)
    await labelCrates(planner, 1, 10)
    await commonLabels(planner, 'keyword', 10)
    await subcategories(planner, 'science', 10)
    await newestOf(planner, 1, 10)
    await assert.rejects(readFigures(planner), /no row/)
    assert.ok(plans.length >= 10)
    none(plans.filter(plan => /TEMP B-TREE|SCAN (?!.* USING |CONSTANT)/.test(plan)))
  },
)

test('weeks and bytes count what is published and deleted', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const { database } = registry.registry
  // Sunday and Monday: two weeks.
  for (const [at, day] of ['2026-11-15', '2026-11-16', '2026-11-16'].entries()) {
    registry.now = new Date(`${day}T23:59:59Z`)
    await registry.publish(token, { name: 'counted', version: `1.${at}.0` })
  }
  assert.deepEqual(await readWeeks(database, 3), [
    { at: '2026-11-02', releases: 0, crates: 0 },
    { at: '2026-11-09', releases: 1, crates: 1 },
    { at: '2026-11-16', releases: 2, crates: 0 },
  ])
  const sum = (await value<number>(database, 'SELECT sum(size) FROM releases')) ?? 0
  assert.ok(sum > 0)
  assert.equal((await readFigures(database)).bytes, sum)
  await registry.delete('counted')
  assert.equal((await readFigures(database)).bytes, 0)
  assert.deepEqual(await readWeeks(database, 3), [])
})
