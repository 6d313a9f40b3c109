import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { output } from '../../../core/paths/tree.ts'
import { Cdn, type PurgeSettings } from '../../../generator/places/cdn.ts'
import { PublicTree } from '../../../generator/places/public-tree.ts'
import { Web } from '../../../generator/web/web.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { refusedWith } from '../../support/refusal.ts'
import { until } from '../../support/until.ts'
import { serveWeb } from '../../support/web-server.ts'
import { folderOf } from '../../support/workplace.ts'

/** A CDN that records purges, and a tree before it. */
async function opened(t: TestContext, more: (url: string) => Partial<PurgeSettings>) {
  const purges: string[] = []
  const state = { status: 200, before: async () => {} }
  const url = await serveWeb(t, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const key = request.headers['the-key'] ?? ''
    purges.push(`${request.method} ${request.url} ${key} ${body}`.trimEnd())
    await state.before()
    response.writeHead(state.status).end()
  })
  const usual = { purge_url: `${url}/purge`, purge_method: 'POST' as const }
  const settings = { ...usual, purge_body: null, purge_headers: null, ...more(url) }
  const cdn = new Cdn(settings, 'https://crates.example/reg', new Web({}), 200)
  new Cleanup(t).add(() => cdn.close().catch(() => undefined))
  const tree = new PublicTree(folderOf(t), 'each', { cdn })
  const isPurged = () => until(() => purges.length > 0 && cdn.waiting === 0, 'no purge')
  return { cdn, tree, purges, state, isPurged }
}

test('changes are purged together, without what never changes, with the headers of a file', async t => {
  const headersFile = join(folderOf(t), 'headers')
  writeFileSync(headersFile, 'The-Key: secret\n\n')
  const { tree, purges, isPurged } = await opened(t, () => ({ purge_headers: headersFile }))
  await tree.batch(async batch => {
    await batch.write(output('index/de/mo/demo', '1\n'))
    await batch.write(output('crates/demo/index.html', '<p>'))
    await batch.write(output('crates/demo/demo-1.0.0.crate', 'bytes'))
    await batch.remove('old+1.html')
  })
  await isPurged()
  const files = ['index/de/mo/demo', 'crates/demo/', 'crates/demo/index.html', 'old%2B1.html']
  const body = JSON.stringify({ files: files.map(file => `https://crates.example/reg/${file}`) })
  assert.deepEqual(purges, [`POST /purge secret ${body}`])
})

test('with a marker there is a request for each address, as a last one when the tree is closed', async t => {
  const marked = (url: string) => ({ purge_url: `${url}/{path}`, purge_method: 'PURGE' as const })
  const { tree, purges, cdn } = await opened(t, marked)
  await tree.write(output('index.html', '<h1>'))
  await cdn.close()
  assert.deepEqual(purges.sort(), ['PURGE /reg/', 'PURGE /reg/index.html'])
})

test('what changes while the CDN is told of it is purged again', async t => {
  const { tree, purges, state } = await opened(t, () => ({}))
  state.before = async () => {
    state.before = async () => {}
    await tree.write(output('index/de/mo/demo', '2\n'))
  }
  await tree.write(output('index/de/mo/demo', '1\n'))
  await until(() => purges.length === 2, 'the second change is not purged', 10_000)
})

test('a purge that fails is told and tried again', async t => {
  const { tree, purges, cdn, state } = await opened(t, () => ({}))
  const failures: unknown[] = []
  cdn.onFailure = error => failures.push(error)
  state.status = 503
  await tree.write(output('index/de/mo/demo', '1\n'))
  await until(() => failures.length > 0, 'no failure')
  const [first] = failures
  assert.ok(first instanceof Refusal && first.has('cdn_unreachable'))
  assert.ok(purges.length > 1)
  assert.equal(cdn.waiting, 1)
  state.status = 200
  await cdn.close()
  assert.equal(cdn.waiting, 0)
})

test('what the CDN does not permit is refused at once', async t => {
  const { tree, purges, cdn, state } = await opened(t, () => ({}))
  state.status = 401
  await tree.write(output('index/de/mo/demo', '1\n'))
  await assert.rejects(cdn.close(), refusedWith('cdn_refuses'))
  assert.equal(purges.length, 1)
})

test('keys are purged once for all that has them, in the list that the CDN expects', async t => {
  const { tree, purges, isPurged } = await opened(t, () => ({ purge_body: '{"tags": {keys}}' }))
  await tree.batch(async batch => {
    await batch.write(output('index/de/mo/demo', '1\n'))
    for (const page of ['', '1.0.0/', '1.0.0/src/', '1.0.0/src/lib/'])
      await batch.write(output(`crates/demo/${page}index.html`, '<p>'))
    await batch.write(output('crates/demo/demo-1.0.0.crate', 'bytes'))
    await batch.write(output('search/layout.json', '{}'))
  })
  await isPurged()
  const tags = ['index-demo', 'pages-demo', 'source-demo', 'search']
  assert.deepEqual(purges, [`POST /purge  {"tags": ${JSON.stringify(tags)}}`])
})

test('with {key} in the address there is a request for each key; a removed .crate is purged', async t => {
  const { tree, purges, cdn } = await opened(t, url => ({ purge_url: `${url}/purge/{key}` }))
  await tree.write(output('crates/demo/demo-1.0.0.crate', 'bytes'))
  await tree.remove('crates/demo/demo-1.0.0.crate')
  await tree.remove('crates/other', true)
  await cdn.close()
  assert.deepEqual(purges.sort(), ['POST /purge/crate-other', 'POST /purge/package-demo'])
})

test('the address and the body of a purge name the same', async t => {
  const { cdn } = await opened(t, url => ({
    purge_url: `${url}/{path}`,
    purge_body: '{"files": {urls}}',
  }))
  await cdn.close()
  await assert.rejects(
    opened(t, url => ({ purge_url: `${url}/{path}`, purge_body: '{"tags": {keys}}' })),
    refusedWith('cdn_mixed'),
  )
})
