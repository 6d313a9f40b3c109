// Mirrors daemon/api/crates.ts
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import * as v from 'valibot'
import {
  authorsAnswer,
  crateAnswer,
  dependenciesAnswer,
  reverseAnswer,
  summaryAnswer,
  versionAnswer,
  versionsAnswer,
} from '../../../daemon/api/schema.ts'
import { run } from '../../../generator/database/statement.ts'
import { Cleanup } from '../../support/cleanup.ts'
import type { CrateParts } from '../../support/crate-builder.ts'
import { frugallyInTheEnd } from '../../support/processor-time.ts'
import { TestRegistry } from '../../support/registry.ts'
import { ownDependency } from '../../support/release.ts'

const cleanup = new Cleanup({ after })
let registry: TestRegistry

/** One registry for all tests here; none changes it. */
before(async () => {
  registry = await TestRegistry.open({ after: step => cleanup.add(step) })
  const token = await registry.user('alice')
  const rich = `[package]
name = "Rich_Crate"
version = "1.1.0+build.5"
edition = "2021"
rust-version = "1.70"
license = "MIT OR Apache-2.0"
description = "Everything said"
homepage = "https://example.com/"
documentation = "https://docs.example.com/"
repository = "https://git.example.com/rich"
keywords = ["Alpha", "beta"]
categories = ["parsing"]
authors = ["Ann <ann@example.com>"]
links = "rich"
readme = "README.md"
[features]
default = ["std"]
std = []
`
  const publish = async (...[parts, metadata]: [CrateParts, object?]) => {
    const { body } = await registry.publish(token, parts, metadata)
    assert.equal(body.errors, undefined)
  }
  await publish({ name: 'basis', version: '1.0.0' })
  registry.now = new Date('2026-11-21T08:30:15Z')
  const dependencies = [
    ownDependency('basis'),
    ownDependency('basis', { kind: 'dev', req: '*', rename: 'tested' }),
  ]
  await publish({ name: 'Rich_Crate', version: '1.0.0' })
  await publish(
    {
      name: 'Rich_Crate',
      version: '1.1.0+build.5',
      manifest: rich + dependencies.map(dependency => dependency.manifest).join(''),
      files: { 'src/lib.rs': '', 'src/main.rs': 'fn main() {}', 'README.md': '# Rich <script>' },
    },
    {
      deps: dependencies.map(dependency => dependency.metadata),
      features: { default: ['std'], std: [] },
      rust_version: '1.70',
      links: 'rich',
    },
  )
  await publish({ name: 'new', version: '1.0.0' })
  await publish({ name: 'summary', version: '0.1.0-alpha' })
  const { manifest, metadata } = ownDependency('basis', { kind: 'build' })
  await publish({ name: 'user-of', version: '0.2.0', manifest }, { deps: [metadata] })
})

async function get<S extends v.GenericSchema>(schema: S, path: string): Promise<v.InferOutput<S>> {
  const response = await registry.request('GET', path)
  assert.equal(response.status, 200, path)
  assert.equal(response.headers.get('content-type'), 'application/json')
  assert.equal(response.headers.get('cache-control'), 'no-cache')
  return v.parse(schema, await response.json())
}

const URLS = {
  homepage: 'https://example.com/',
  documentation: 'https://docs.example.com/',
  repository: 'https://git.example.com/rich',
}
const TIMES = { created_at: '2026-11-21T08:30:15Z', updated_at: '2026-11-21T08:30:15Z' }
const CRATE = '/api/v1/crates/Rich_Crate'
const VERSION = {
  id: 3,
  crate: 'Rich_Crate',
  num: '1.1.0+build.5',
  dl_path: `${CRATE}/1.1.0+build.5/download`,
  readme_path: `${CRATE}/1.1.0+build.5/readme`,
  ...TIMES,
  downloads: 0,
  features: { default: ['std'], std: [] },
  yanked: false,
  yank_message: null,
  deprecated: null,
  lib_links: 'rich',
  license: 'MIT OR Apache-2.0',
  links: {
    dependencies: `${CRATE}/1.1.0+build.5/dependencies`,
    version_downloads: `${CRATE}/1.1.0+build.5/downloads`,
    authors: `${CRATE}/1.1.0+build.5/authors`,
  },
  published_by: { id: 1, login: 'alice', name: null, avatar: null, url: '' },
  audit_actions: [],
  trustpub_data: null,
  rust_version: '1.70',
  has_lib: true,
  bin_names: ['Rich_Crate'],
  edition: '2021',
  linecounts: {
    languages: { Rust: { files: 2, code_lines: 1, comment_lines: 0 } },
    total_code_lines: 1,
    total_comment_lines: 0,
  },
  unpacked_size: 668,
  num_files: 4,
  description: 'Everything said',
  ...URLS,
}

test('a crate, found by its canonical name, in the shape of crates.io', async () => {
  for (const name of ['Rich_Crate', 'rich-crate', 'RICH_crate']) {
    const answer = await get(crateAnswer, `/api/v1/crates/${name}?unknown=1`)
    const { crate, versions, keywords, categories } = answer
    assert.deepEqual(crate, {
      id: 'Rich_Crate',
      name: 'Rich_Crate',
      ...TIMES,
      versions: [3, 2],
      keywords: ['alpha', 'beta'],
      categories: ['parsing'],
      badges: [],
      downloads: 0,
      recent_downloads: 0,
      default_version: '1.1.0+build.5',
      num_versions: 2,
      yanked: false,
      max_version: '1.1.0+build.5',
      newest_version: '1.1.0+build.5',
      max_stable_version: '1.1.0+build.5',
      description: 'Everything said',
      ...URLS,
      links: {
        version_downloads: `${CRATE}/downloads`,
        versions: `${CRATE}/versions`,
        owners: `${CRATE}/owners`,
        owner_team: `${CRATE}/owners`,
        owner_user: `${CRATE}/owners`,
        reverse_dependencies: `${CRATE}/reverse_dependencies`,
      },
      exact_match: true,
      trustpub_only: false,
      deprecated: null,
    })
    assert.ok(versions?.[0])
    const { checksum, crate_size, ...rest } = versions[0]
    assert.deepEqual(rest, { ...VERSION, features: {} })
    assert.match(checksum, /^[0-9a-f]{64}$/)
    assert.ok(crate_size > 100)
    const [alpha, beta] = keywords ?? []
    const used = { crates_cnt: 1, created_at: '2026-11-21T08:30:15Z' }
    assert.deepEqual(alpha, { id: 'alpha', keyword: 'alpha', ...used })
    assert.deepEqual([beta?.id, categories?.[0]?.slug], ['beta', 'parsing'])
  }
})

test('`include` picks the parts of a crate', async () => {
  const cheap = await get(crateAnswer, `${CRATE}?include=`)
  assert.deepEqual(
    [cheap.versions, cheap.keywords, cheap.categories, cheap.crate.versions],
    [null, null, null, null],
  )
  assert.equal(cheap.crate.homepage, 'https://example.com/')
  const included = await get(crateAnswer, `${CRATE}?include=versions,keywords,nonsense`)
  assert.deepEqual(
    [included.versions?.length, included.keywords?.length, included.categories],
    [2, 2, null],
  )
})

test('versions: by precedence or by date, in pages when asked', async () => {
  const nums = (body: { versions: { num: string }[] }) => body.versions.map(version => version.num)
  const all = await get(versionsAnswer, '/api/v1/crates/rich_crate/versions')
  assert.deepEqual(nums(all), ['1.1.0+build.5', '1.0.0'])
  assert.deepEqual(all.meta, { total: 2, next_page: null, prev_page: null })
  const byDate = await get(versionsAnswer, '/api/v1/crates/rich_crate/versions?sort=date')
  assert.deepEqual(nums(byDate), nums(all))
  const page = await get(versionsAnswer, '/api/v1/crates/rich_crate/versions?per_page=1&page=2')
  assert.deepEqual(nums(page), ['1.0.0'])
  assert.deepEqual(page.meta, { total: 2, next_page: null, prev_page: '?per_page=1&page=1' })
})

test('a version, with its build metadata raw or encoded; another build is another version', async () => {
  for (const version of ['1.1.0+build.5', '1.1.0%2Bbuild.5']) {
    const answer = await get(versionAnswer, `/api/v1/crates/rich-crate/${version}`)
    const { checksum, crate_size, ...rest } = answer.version
    assert.deepEqual(rest, VERSION)
  }
  for (const version of ['1.1.0', '1.1.0+other', '9.9.9', 'v1.0.0', '1.0']) {
    const response = await registry.request('GET', `/api/v1/crates/Rich_Crate/${version}`)
    assert.equal(response.status, 404)
    assert.deepEqual(await response.json(), {
      errors: [{ detail: `there is no version ${version} of \`Rich_Crate\` here` }],
    })
  }
})

test('dependencies keep their ids, name the real crate, and say what it is called', async () => {
  const path = `${CRATE}/1.1.0+build.5/dependencies`
  const { dependencies } = await get(dependenciesAnswer, path)
  const common = {
    ...{ version_id: 3, crate_id: 'basis', optional: false, default_features: true },
    ...{ features: [], target: null, downloads: 0, registry: null },
  }
  const normal = { req: '^1', kind: 'normal', explicit_name_in_toml: null } as const
  const dev = { req: '*', kind: 'dev', explicit_name_in_toml: 'tested' } as const
  assert.deepEqual(dependencies, [
    { id: 196608, ...common, ...normal },
    { id: 196609, ...common, ...dev },
  ])
  const none = await get(dependenciesAnswer, '/api/v1/crates/basis/1.0.0/dependencies')
  assert.deepEqual(none, { dependencies: [] })
})

/** A registry with a crate of 500 features and many versions, whose lines differ. */
async function wideRegistry(t: TestContext, versions: number) {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  const names = Array.from({ length: 500 }, (_, at) => `feature-of-considerable-length-${at}`)
  const features = Object.fromEntries(names.map(name => [name, []]))
  const manifest = `[features]\n${names.map(name => `${name} = []`).join('\n')}`
  const wide = { name: 'wide', version: '1.0.0', manifest }
  const { body } = await test.publish(token, wide, { features })
  assert.equal(body.errors, undefined)
  const another = `INSERT INTO releases
      (crate_id, version, identity, cksum, size, yanked, line, about, published_at)
    SELECT crate_id, ?, ?, cksum, size, yanked, replace(line, '1.0.0', ?), about, published_at
    FROM releases WHERE version = '1.0.0'`
  for (let at = 1; at < versions; at++)
    await run(test.registry.database, another, ...Array(3).fill(`1.0.${at}`))
  return { test, features }
}

test('versions: 100 without `per_page`', async t => {
  const { test } = await wideRegistry(t, 103)
  const answer = await test.request('GET', '/api/v1/crates/wide/versions')
  const { versions, meta } = v.parse(versionsAnswer, await answer.json())
  assert.deepEqual(
    [versions.length, versions[0]?.num, meta],
    [100, '1.0.102', { total: 103, next_page: '?page=2', prev_page: null }],
  )
})

test('a version has all its features; in lists only where they are not very many', async t => {
  const { test, features } = await wideRegistry(t, 2)
  const read = async <S extends v.GenericSchema>(schema: S, path: string) =>
    v.parse(schema, await (await test.request('GET', `/api/v1/crates/${path}`)).json())
  const { versions: whole } = await read(crateAnswer, 'wide')
  const { versions: listed } = await read(versionsAnswer, 'wide/versions')
  assert.deepEqual(
    [...(whole ?? []), ...listed].map(version => version.features),
    [{}, {}, {}, {}],
  )
  assert.deepEqual((await read(versionAnswer, 'wide/1.0.0')).version.features, features)
  const [short] = (await get(versionsAnswer, '/api/v1/crates/rich_crate/versions')).versions
  assert.deepEqual(short?.features, VERSION.features)
})

test('a crate with many features and versions is answered without reading its lines', async t => {
  const { test } = await wideRegistry(t, 300)
  const paths = ['wide', 'wide/versions', 'wide/1.0.0/dependencies']
  const ask = () => Promise.all(paths.map(path => test.request('GET', `/api/v1/crates/${path}`)))
  await ask()
  const answers = await frugallyInTheEnd(ask, 'answers about 300 versions', 400)
  for (const answer of answers) assert.equal(answer.status, 200)
})

test('reverse dependencies: each crate once, by name, in pages', async () => {
  const reverse = (path: string) =>
    get(reverseAnswer, `/api/v1/crates/${path.replace('?', '/reverse_dependencies?')}`)
  const { dependencies, versions, meta } = await reverse('BASIS?')
  const kinds = dependencies.map(({ version_id, crate_id, kind }) => [version_id, crate_id, kind])
  assert.deepEqual(kinds, [
    [3, 'basis', 'normal'],
    [6, 'basis', 'build'],
  ])
  const dependents = versions.map(({ id, crate, num }) => [id, crate, num])
  assert.deepEqual(dependents, [
    [3, 'Rich_Crate', '1.1.0+build.5'],
    [6, 'user-of', '0.2.0'],
  ])
  assert.deepEqual(meta, { total: 2, next_page: null, prev_page: null })
  const page = await reverse('basis?per_page=1')
  const { total, next_page } = page.meta
  assert.deepEqual([page.versions.length, total, next_page], [1, 2, '?per_page=1&page=2'])
  const none = { dependencies: [], versions: [], meta: { ...meta, total: 0 } }
  assert.deepEqual(await reverse('new?'), none)
})

test('a README is plain text, whatever it says; a version without one says so', async () => {
  const response = await registry.request('GET', '/api/v1/crates/Rich_Crate/1.1.0+build.5/readme')
  assert.equal(await response.text(), '# Rich <script>')
  assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  const none = await registry.request('GET', '/api/v1/crates/basis/1.0.0/readme')
  assert.equal(none.status, 404)
  assert.deepEqual(await none.json(), {
    errors: [{ detail: 'there is no README of basis 1.0.0 here' }],
  })
})

test('authors are those of the manifest', async () => {
  const answer = await get(authorsAnswer, '/api/v1/crates/rich-crate/1.1.0+build.5/authors')
  assert.deepEqual(answer, { users: [], meta: { names: ['Ann <ann@example.com>'] } })
})

test('the summary: how many, which are new, which were updated', async () => {
  const { new_crates, just_updated, ...rest } = await get(summaryAnswer, '/api/v1/summary')
  const names = (list: { name: string }[]) => list.map(item => item.name)
  assert.deepEqual(names(new_crates), ['user-of', 'summary', 'new', 'Rich_Crate', 'basis'])
  assert.deepEqual(names(just_updated), ['Rich_Crate'])
  assert.deepEqual(rest, {
    num_crates: 5,
    num_downloads: 0,
    most_downloaded: [],
    most_recently_downloaded: [],
    popular_keywords: [],
    popular_categories: [],
  })
})

test('crates called like parts of the API are crates', async () => {
  assert.equal((await get(crateAnswer, '/api/v1/crates/new')).crate.max_version, '1.0.0')
  const { crate } = await get(crateAnswer, '/api/v1/crates/summary')
  assert.deepEqual([crate.max_version, crate.max_stable_version], ['0.1.0-alpha', null])
  assert.equal((await get(versionAnswer, '/api/v1/crates/new/1.0.0')).version.crate, 'new')
})

test('what is not there is 404 with the errors object, and kept by nobody', async () => {
  const ofCrate = ['', '/versions', '/reverse_dependencies', '/downloads']
  const ofVersion = ['', '/dependencies', '/readme', '/authors'].map(path => `/1.0.0${path}`)
  for (const path of [...ofCrate, ...ofVersion].map(path => `nowhere${path}`)) {
    const response = await registry.request('GET', `/api/v1/crates/${path}`)
    assert.equal(response.status, 404, path)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.deepEqual(await response.json(), {
      errors: [{ detail: 'there is no crate `nowhere` here' }],
    })
  }
  for (const name of ['0day', 'a%00b', '..', 'a%2Fb', 'é', '%zz', 'x'.repeat(65)]) {
    assert.equal((await registry.request('GET', `/api/v1/crates/${name}`)).status, 404, name)
  }
})

test('an answer that has not changed is 304', async () => {
  const api = ['crates/basis', 'crates?q=basis', 'summary'].map(path => `/api/v1/${path}`)
  for (const path of [...api, '/api/openapi.json']) {
    const first = await registry.request('GET', path)
    const etag = first.headers.get('etag') ?? ''
    assert.match(etag, /^"[0-9a-f]{32}"$/)
    const again = (tag: string) =>
      registry.request('GET', path, null, { headers: { 'if-none-match': tag } })
    const same = await again(`"other", W/${etag}`)
    assert.equal(same.status, 304)
    assert.equal(same.headers.get('etag'), etag)
    assert.equal(await same.text(), '')
    assert.equal((await again('"other"')).status, 200)
    const head = await registry.request('HEAD', path)
    assert.deepEqual([head.status, head.headers.get('etag'), await head.text()], [200, etag, ''])
  }
})
