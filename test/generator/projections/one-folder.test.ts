// Mirrors generator/projections/projection.ts: a page is added, and removed, with one line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { output } from '../../../core/paths/tree.ts'
import { parseVersion } from '../../../core/version.ts'
import { build } from '../../../generator/pages/build.ts'
import { BATCH, pageMarks } from '../../../generator/pages/marked.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { bySubject, type Pages } from '../../../generator/projections/pages.ts'
import { marksOf } from '../../../generator/records/marks.ts'
import { readRelease } from '../../../generator/records/releases.ts'
import { deleteReleases } from '../../../generator/registry/changes/delete.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { verify } from '../../../generator/verify/verify.ts'
import { findingsOf } from '../../support/findings.ts'
import { filesBelow } from '../../support/folder.ts'
import { addCrate, newRegistry, OPERATOR } from '../../support/workplace.ts'

/** A page of each version. */
const toy: Pages = {
  kind: 'toy',
  work: 'toys',
  of: 'release',
  due: 'soon',
  changed: async (_, { added }) =>
    marksOf(
      'toy',
      added.map(({ id }) => id),
    ),
  ...bySubject(
    'toy',
    'SELECT id AS subject, 0 AS generation, version AS about FROM releases',
    async ({ database }, id) => {
      const stored = await readRelease(database, id)
      if (!stored) return []
      const { crate, release } = stored
      return [output(`crates/${crate.name}/${release.version}/toy/index.html`, release.line)]
    },
  ),
  owns: ({ version, file }) => version !== null && file === 'toy/index.html',
}

test('a page of each version is built, verified, swept and gone with one line', async t => {
  const plain = await newRegistry(t)
  const registry: Registry = { ...plain, followers: [...plain.followers, toy] }
  const toys = () => filesBelow(plain.tree.root).filter(path => path.includes('toy'))
  const findings = (of = registry, repair = false) =>
    findingsOf(verify(of, { repair, served: false }))
  const add = (version: string) => addCrate(registry, { name: 'demo', version })
  const pageOf = (version: string) => `crates/demo/${version}/toy/index.html`
  await add('1.0.0')
  await add('1.1.0')
  await build(registry)
  await buildPages(registry)
  assert.deepEqual(toys(), [pageOf('1.0.0'), pageOf('1.1.0')])
  assert.deepEqual(await findings(), [])
  await plain.tree.write(output(pageOf('1.0.0'), 'spoilt'))
  const spoilt = `${pageOf('1.0.0')}: the page differs from the records`
  assert.deepEqual(await findings(), [spoilt])
  assert.deepEqual(await findings(registry, true), [`repaired ${spoilt}`])
  assert.deepEqual(await findings(), [])
  await build(registry, { all: true })
  assert.equal(toys().length, 2, 'it is no leftover file')
  const version = parseVersion('1.0.0')
  await deleteReleases(registry, { name: parseName('demo'), version, force: false }, OPERATOR)
  assert.deepEqual(toys(), [pageOf('1.1.0')])
  await buildPages(registry)
  assert.deepEqual(await findings(), [])
  assert.deepEqual(await findings(plain), [`${pageOf('1.1.0')}: does not belong to its crate`])
  await build(plain, { all: true })
  await buildPages(plain, { all: true })
  assert.deepEqual([toys(), await findings(plain)], [[], []])
})

test('marks after the index are due when the index of their crate shows the change', async t => {
  const plain = await newRegistry(t)
  const crates: Pages = {
    ...toy,
    kind: 'toy-crate',
    of: 'crate',
    changed: async (_, { crate }) => marksOf('toy-crate', [crate.id]),
  }
  const kinds = ['toy', 'toy-crate']
  const late = [toy, crates].map(follower => ({ ...follower, after: 'index' }) as const)
  const registry: Registry = { ...plain, followers: [...plain.followers, ...late] }
  const due = async (of = registry) =>
    (await pageMarks(of, plain.clock(), BATCH, kinds)).map(({ kind, subject }) => [kind, subject])
  await addCrate(registry, { name: 'early', version: '1.0.0' })
  await build(registry)
  await addCrate(registry, { name: 'late', version: '1.0.0' })
  const marked = (subjects: number[]) =>
    kinds.flatMap(kind => subjects.map(subject => [kind, subject]))
  assert.deepEqual(await due(), marked([1]))
  assert.deepEqual(
    await due({ ...plain, followers: [...plain.followers, toy, crates] }),
    marked([1, 2]),
  )
  await build(registry)
  assert.deepEqual(await due(), marked([1, 2]))
  await buildPages(registry, { kinds: ['toy'] })
  assert.equal(await plain.tree.has('crates/late/1.0.0/toy/index.html'), true)
})
