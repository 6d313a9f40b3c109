// Mirrors daemon/files/tree-file.ts: what is not there
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { deleteReleases } from '../../../generator/registry/changes/delete.ts'
import { TestRegistry } from '../../support/registry.ts'

test('a download of a deleted version says why it was deleted, and so does a publish of it', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const change = operatorChange('2026-11-20T12:00:00Z')
  const remove = (version: string, reason?: string) => {
    const release = { name: parseName('demo'), version: parseVersion(version) }
    return deleteReleases(test.registry, { ...release, force: false, reason }, change)
  }
  const said = async (path: string) => {
    const answer = await test.request('GET', path)
    const { errors } = (await answer.json()) as { errors: { detail: string }[] }
    return [answer.status, errors.map(({ detail }) => detail).join()]
  }
  for (const version of ['1.0.0', '1.1.0']) await test.publish(token, { name: 'demo', version })
  await remove('1.0.0', 'it contained a key')
  await remove('1.1.0')
  const why = '`demo` 1.0.0 was deleted: it contained a key; choose another version'
  assert.deepEqual(await said('/crates/demo/demo-1.0.0.crate'), [404, why])
  assert.deepEqual(await said('/api/v1/crates/demo/1.0.0/download'), [404, why])
  const plain = '`demo` 1.1.0 was deleted; choose another version'
  assert.deepEqual(await said('/crates/demo/demo-1.1.0.crate'), [404, plain])
  assert.deepEqual(await said('/crates/demo/demo-1.2.0.crate'), [404, 'there is nothing here'])
  const again = await test.publish(token, { name: 'demo', version: '1.0.0', files: { 'a.rs': '' } })
  assert.match(
    JSON.stringify(again),
    /`demo` 1\.0\.0 was deleted: it contained a key; lock files may/,
  )
  // Its name stays taken, but there is no page to lead to.
  const page = await test.request('GET', '/crates/demo/', null, {
    headers: { accept: 'text/html' },
  })
  assert.doesNotMatch(await page.text(), /The crate exists/)
})

test('index files are found as Dependabot asks for them, which keeps capitals', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  for (const name of ['Abc', 'Demo']) await registry.publish(token, { name, version: '1.0.0' })
  const said = async (path: string) => {
    const answer = await registry.request('GET', `/index/${path}`)
    return answer.status === 200 ? await answer.text() : answer.status
  }
  assert.equal(await said('3/Ab/Abc'), await said('3/a/abc'))
  assert.equal(await said('De/mo/Demo'), await said('de/mo/demo'))
  assert.match(String(await said('3/ab/abc')), /"name":"Abc"/)
  for (const path of ['3/bc/abc', 'De/mo/demo', '3/Ab/Abd', '3/A/Abc', '3/De/Demo'])
    assert.equal(await said(path), 404, path)
})
