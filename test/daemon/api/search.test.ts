import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { searchAnswer } from '../../../daemon/api/search-schema.ts'
import { TestRegistry } from '../../support/registry.ts'
import { ownDependency } from '../../support/release.ts'

type Found = v.InferOutput<typeof searchAnswer>

async function ask(registry: TestRegistry, query: string): Promise<Found> {
  // However busy the machine is, what was published before is rendered.
  await registry.indexWorker.pages.flush()
  const response = await registry.request('GET', `/api/v1/crates${query}`)
  assert.equal(response.status, 200, query)
  const body: unknown = await response.json()
  const answer = v.parse(searchAnswer, body)
  assert.deepEqual(answer, body)
  return answer
}

async function names(registry: TestRegistry, query: string): Promise<string[]> {
  return (await ask(registry, query)).crates.map(crate => crate.name)
}

/** Publishes crates `name@version`, with manifest lines of `[package]`. */
async function publishAll(
  registry: TestRegistry,
  crates: Readonly<Record<string, string>>,
): Promise<string> {
  const token = await registry.user('alice')
  for (const [spec, lines] of Object.entries(crates)) {
    const [name = '', version = '1.0.0'] = spec.split('@')
    const manifest = `[package]\nname = "${name}"\nversion = "${version}"\nedition = "2021"\nlicense = "MIT"\n${lines}`
    const answer = await registry.publish(token, { name, version, manifest })
    assert.deepEqual(answer.status, 200)
    assert.equal('errors' in answer.body, false, JSON.stringify(answer.body))
  }
  return token
}

test('a crate has nothing of the core of somebody else, until they share an owner', async t => {
  const test = await TestRegistry.open(t)
  const alice = await publishAll(test, { 'billing-core': 'keywords = ["invoices"]' })
  const bob = await test.user('bob')
  const core = ownDependency('billing-core')
  const billing = { name: 'billing', version: '1.0.0', manifest: core.manifest }
  const answer = await test.publish(bob, billing, { deps: [core.metadata] })
  assert.deepEqual([answer.status, 'errors' in answer.body], [200, false])
  assert.deepEqual(await names(test, '?q=invoices'), ['billing-core'])
  const owners = '/api/v1/crates/billing-core/owners'
  const body = JSON.stringify({ users: ['bob'] })
  const share = async (method: string) =>
    assert.equal((await test.request(method, owners, alice, { body })).status, 200)
  await share('PUT')
  assert.deepEqual(await names(test, '?q=invoices'), ['billing', 'billing-core'])
  await share('DELETE')
  assert.deepEqual(await names(test, '?q=invoices'), ['billing-core'])
})

const NOTHING_ELSE = { similar: [], suggested: [], missing: [] }

test('exact name, words of the name, names that begin so, keywords, description, in this order', async t => {
  const registry = await TestRegistry.open(t)
  await publishAll(registry, {
    'reads-toml': 'description = "Nothing else"',
    'in-text': 'description = "It speaks TOML."',
    'by-keyword': 'description = "x"\nkeywords = ["Toml"]',
    'my-tomlish': 'description = "x"',
    'tomlin-longer': 'description = "x"',
    tomlin: 'description = "x"',
    toml: 'description = "x"',
    other: 'description = "tomato"',
  })
  const expected = [
    'toml',
    'reads-toml',
    'tomlin',
    'my-tomlish',
    'tomlin-longer',
    'by-keyword',
    'in-text',
  ]
  assert.deepEqual(await names(registry, '?q=toml'), expected)
  assert.deepEqual(await names(registry, '?q=TOML'), expected)
  const page = '?q=toml&per_page=2&page=2&other=ignored'
  assert.deepEqual(await names(registry, page), ['tomlin', 'my-tomlish'])
  assert.deepEqual((await ask(registry, page)).meta, {
    total: 7,
    next_page: '?q=toml&per_page=2&page=3&other=ignored',
    prev_page: '?q=toml&per_page=2&page=1&other=ignored',
    words: 1,
    matched_words: 1,
    ...NOTHING_ELSE,
  })
  const exact = (await ask(registry, '?q=toml')).crates.filter(crate => crate.exact_match)
  assert.deepEqual(
    exact.map(crate => crate.name),
    ['toml'],
  )
})

test('all words must match, however they are joined', async t => {
  const registry = await TestRegistry.open(t)
  await publishAll(registry, { 'a-json-parser': '', json_parser: '', 'only-json': '' })
  const both = ['json_parser', 'a-json-parser']
  for (const joined of ['json%2Bparser', 'json+parser', 'json%20parser', '%20json++parser+'])
    assert.deepEqual(await names(registry, `?q=${joined}`), both, joined)
  // A word that no crate has is left out.
  const left = await ask(registry, '?q=json+nowhere')
  assert.deepEqual([left.meta.total, left.meta.missing], [3, ['nowhere']])
})

test('max_version is the highest unyanked version, default_version the stable one; else the highest', async t => {
  const registry = await TestRegistry.open(t)
  const token = await publishAll(registry, {
    'demo@1.0.0': 'description = "One"',
    'demo@1.2.0': 'description = "Two"',
    'demo@2.0.0-rc.1': 'description = "Three"',
  })
  const verbs = { yank: 'DELETE', unyank: 'PUT' } as const
  const yank = (version: string, verb: 'yank' | 'unyank') =>
    registry.request(verbs[verb], `/api/v1/crates/demo/${version}/${verb}`, token)
  const rows: [change: 'yank' | 'unyank' | 'publish', of: string, stable: string, max: string][] = [
    ['unyank', '1.0.0', '1.2.0', '2.0.0-rc.1'],
    ['yank', '1.2.0', '1.0.0', '2.0.0-rc.1'],
    ['yank', '1.0.0', '2.0.0-rc.1', '2.0.0-rc.1'],
    ['yank', '2.0.0-rc.1', '2.0.0-rc.1', '2.0.0-rc.1'],
    ['unyank', '1.2.0', '1.2.0', '1.2.0'],
    ['unyank', '2.0.0-rc.1', '1.2.0', '2.0.0-rc.1'],
    ['publish', '1.1.0', '1.2.0', '2.0.0-rc.1'],
    ['publish', '2.0.0-rc.2', '1.2.0', '2.0.0-rc.2'],
    ['publish', '2.0.0', '2.0.0', '2.0.0'],
  ]
  for (const [change, version, stable, max] of rows) {
    if (change === 'publish') await registry.publish(token, { name: 'demo', version })
    else await yank(version, change)
    const [first] = (await ask(registry, '?q=demo')).crates
    const answer = await registry.request('GET', '/api/v1/crates/demo')
    const { crate } = (await answer.json()) as { crate: Found['crates'][number] }
    for (const shown of [first, crate])
      assert.deepEqual([shown?.default_version, shown?.max_version], [stable, max], version)
    // Words are those of the version that is shown.
    assert.deepEqual(await names(registry, '?q=two'), stable === '1.2.0' ? ['demo'] : [], version)
  }
})

test('without words: all crates by name, those whose every version is yanked last, in pages', async t => {
  const registry = await TestRegistry.open(t)
  const token = await publishAll(registry, { charlie: '', alpha: '', bravo: '' })
  for (const query of ['', '?q=', '?q=+', '?q=%20%2B'])
    assert.deepEqual(await names(registry, query), ['alpha', 'bravo', 'charlie'])
  const last = '?per_page=2&page=2'
  assert.deepEqual(await names(registry, last), ['charlie'])
  const { total, next_page, prev_page } = (await ask(registry, last)).meta
  assert.deepEqual([total, next_page, prev_page], [3, null, '?per_page=2&page=1'])
  await registry.request('DELETE', '/api/v1/crates/alpha/1.0.0/yank', token)
  assert.deepEqual(await names(registry, '?q='), ['bravo', 'charlie', 'alpha'])
})

test('a crate without description says ""; what is out of range counts as the nearest that is not', async t => {
  const registry = await TestRegistry.open(t)
  const fleet = Array.from({ length: 12 }, (_, at) => [`fleet-${at + 10}`, ''])
  await publishAll(registry, Object.fromEntries(fleet))
  assert.equal((await ask(registry, '?q=fleet&per_page=1')).crates[0]?.description, '')
  const lengths: Record<string, number> = {
    '?q=fleet': 10,
    '?q=fleet&per_page=100': 12,
    '?q=fleet&per_page=101': 12,
    '?q=fleet&per_page=99999999999999999999': 12,
    '?q=fleet&per_page=0': 1,
    '?q=fleet&per_page=-5': 1,
    '?q=fleet&per_page=many': 10,
    '?q=fleet&per_page=': 10,
    '?q=fleet&page=0': 10,
    '?q=fleet&page=2': 2,
    '?q=fleet&page=3': 0,
    '?q=fleet&page=99999999999999999999': 0,
  }
  for (const [query, length] of Object.entries(lengths)) {
    const { crates, meta } = await ask(registry, query)
    assert.equal(crates.length, length, query)
    assert.equal(meta.total, 12, query)
  }
})

test('no query is an error, and none means anything but its words', async t => {
  const registry = await TestRegistry.open(t)
  await publishAll(registry, {
    hoare: 'description = "Assertions, 100% müheloses NEAR \\"quoted\\" c++ 数据库 *"',
  })
  const counts: Record<string, number> = {
    '"quoted': 1,
    'NEAR(hoare quoted)': 1,
    'hoare AND quoted': 1,
    'hoare*': 1,
    '%': 0,
    _: 0,
    'c++': 1,
    '-hoare': 1,
    "'; DROP TABLE terms; --": 0,
    MÜHELOSES: 1,
    ｈｏａｒｅ: 1,
    数据库: 1,
    'hoare\u0000quoted': 1,
    '\ud800': 0,
    '💥': 0,
    ['x'.repeat(8000)]: 0,
    ['hoare '.repeat(2000)]: 1,
  }
  for (const [query, total] of Object.entries(counts)) {
    const raw = encodeURIComponent(query.replace(/\p{Cs}/gu, '\ufffd'))
    assert.equal((await ask(registry, `?q=${raw}`)).meta.total, total, query.slice(0, 40))
  }
  for (const raw of ['%', '%zz', '%E0%A4', '%FF', '%2', '&q=two', '[]=x', '%00%00'])
    await ask(registry, `?q=${raw}`)
  assert.doesNotMatch(registry.logText(), /unexpected error/)
})

test('an empty registry finds nothing, also by filters', async t => {
  const registry = await TestRegistry.open(t)
  for (const query of ['?q=demo', '?q=&keyword=cli', '?q=demo&keyword=cli', '?q=&rust=1.60'])
    assert.deepEqual((await ask(registry, query)).crates, [], query)
})
