import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TestRegistry } from '../../support/registry.ts'

const PNG = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0])
const BROWSER = { headers: { accept: 'text/html' } }

async function prepared(t: TestContext, env: Record<string, string> = {}) {
  const registry = await TestRegistry.open(t, { env })
  const token = await registry.user('alice', { scopes: null })
  for (const version of ['1.0.0', '1.1.0', '2.0.0+a']) {
    const files = { 'src/lib.rs': `// ${version}\n`, 'logo.png': PNG, 'a.bin': 'x\0y' }
    await registry.publish(token, { name: 'Some-Crate', version, files })
  }
  await registry.indexWorker.pages.flush()
  const get = (path: string, init: RequestInit = BROWSER) =>
    registry.request('GET', path, undefined, init)
  return { registry, token, get }
}

test('any two versions are compared, in either direction', async t => {
  const { get } = await prepared(t)
  const answer = await get('/crates/Some-Crate/compare/2.0.0+a...1.0.0')
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  const text = await answer.text()
  assert.match(text, /<h1>Changes from 2\.0\.0\+a to 1\.0\.0<\/h1>/)
  assert.match(text, /2\.0\.0\+a<\/span>\n<\/span><span class="added">.*1\.0\.0/)
  assert.match(text, /href="1\.0\.0\.\.\.2\.0\.0\+a">Swap/)
  const etag = answer.headers.get('etag') ?? ''
  const again = await get('/crates/Some-Crate/compare/2.0.0+a...1.0.0', {
    headers: { 'if-none-match': etag },
  })
  assert.equal(again.status, 304)
})

test('the form leads to the page, without a choice to the newest two', async t => {
  const { get } = await prepared(t)
  const leads = async (path: string) => {
    const answer = await get(path)
    return [answer.status, answer.headers.get('location')]
  }
  const here = '/crates/Some-Crate/compare'
  assert.deepEqual(await leads(`${here}/?from=1.0.0&to=1.1.0`), [303, `${here}/1.0.0...1.1.0`])
  assert.deepEqual(await leads(`${here}/`), [303, `${here}/1.1.0...2.0.0+a`])
  assert.deepEqual(await leads('/crates/some_crate/compare/1.0.0...2.0.0'), [
    303,
    `${here}/1.0.0...2.0.0+a`,
  ])
})

test('what is not there is a 404, for a browser as a page', async t => {
  const { get } = await prepared(t)
  for (const path of ['1.0.0...9.9.9', '1.0.0', 'x...y', '1.0.0...', '...']) {
    const answer = await get(`/crates/Some-Crate/compare/${path}`)
    assert.equal(answer.status, 404, path)
    assert.match(await answer.text(), /<h1>Nothing here<\/h1>/)
  }
  assert.equal((await get('/crates/none/compare/1.0.0...1.1.0', {})).status, 404)
})

test('too many comparisons from one address are refused', async t => {
  const { get } = await prepared(t, { PLIMSOLL_LIMITS_SEARCHES_PER_MINUTE: '2' })
  const path = '/crates/Some-Crate/compare/1.0.0...1.1.0'
  const statuses = [await get(path), await get(path), await get(path)].map(one => one.status)
  assert.deepEqual(statuses, [200, 200, 429])
})

test('a private registry compares for readers only', async t => {
  const { get, token } = await prepared(t, { PLIMSOLL_AUTH_REQUIRED: 'true' })
  const path = '/crates/Some-Crate/compare/1.0.0...1.1.0'
  assert.equal((await get(path)).status, 303)
  assert.equal((await get(path, {})).status, 401)
  const answer = await get(path, { headers: { authorization: token } })
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('cache-control') ?? '', /^private/)
})

test('a raw file is plain text that can do nothing, an image is an image', async t => {
  const { get } = await prepared(t)
  const raw = async (path: string) => {
    const answer = await get(`/crates/Some-Crate/1.1.0/raw/${path}`)
    return [answer.status, answer.headers.get('content-type'), answer.headers] as const
  }
  const [status, type, headers] = await raw('src/lib.rs.txt')
  assert.deepEqual([status, type], [200, 'text/plain; charset=utf-8'])
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.match(headers.get('content-security-policy') ?? '', /^sandbox; default-src 'none'/)
  const answer = await get('/crates/Some-Crate/1.1.0/raw/src/lib.rs.txt')
  assert.equal(await answer.text(), '// 1.1.0\n')
  const image = await raw('logo.png')
  assert.deepEqual(image.slice(0, 2), [200, 'image/png'])
  assert.match(image[2].get('content-security-policy') ?? '', /^sandbox/)
  assert.equal((await raw('a.bin.txt'))[1], 'application/octet-stream')
  for (const path of ['none.txt', '../Cargo.toml.txt', '%2e%2e/x.txt'])
    assert.equal((await raw(path))[0], 404, path)
  const known = await get('/crates/Some-Crate/1.1.0/raw/src/lib.rs.txt', {
    headers: { 'if-none-match': headers.get('etag') ?? '' },
  })
  assert.equal(known.status, 304)
})

test('a raw file of more than 4 MiB is only in the package', async t => {
  const { registry, token, get } = await prepared(t)
  const files = {
    'src/lib.rs': '',
    'big.txt': 'x'.repeat(4 * 1024 ** 2 + 1),
    'most.txt': 'x'.repeat(4 * 1024 ** 2),
  }
  await registry.publish(token, { name: 'big', version: '1.0.0', files })
  assert.equal((await get('/crates/big/1.0.0/raw/most.txt.txt')).status, 200)
  const short = await get('/crates/big/1.0.0/raw/most.txt')
  assert.deepEqual(
    [short.status, short.headers.get('location')],
    [303, '/crates/big/1.0.0/raw/most.txt.txt'],
  )
  const none = await get('/crates/big/1.0.0/raw/none.rs', { headers: { accept: 'text/html' } })
  assert.equal(none.status, 404)
  assert.match(await none.text(), /^<!doctype html>/i)
  assert.equal((await get('/crates/big/1.0.0/raw/big.txt.txt')).status, 404)
})

test('without a source browser there is neither comparison nor raw file', async t => {
  const { get } = await prepared(t, { PLIMSOLL_PAGES_SOURCE: 'false' })
  assert.equal((await get('/crates/Some-Crate/compare/1.0.0...1.1.0')).status, 404)
  assert.equal((await get('/crates/Some-Crate/1.1.0/raw/src/lib.rs.txt')).status, 404)
  assert.doesNotMatch(await (await get('/crates/Some-Crate/')).text(), /compare/)
})
