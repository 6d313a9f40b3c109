import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import type { Dependency } from '../../core/entry/entry.ts'
import { renderEntry } from '../../core/entry/entry.ts'
import type { Issue } from '../../core/error/error.ts'
import { parseManifest } from '../../core/manifest/parse.ts'
import { compareMetadata } from '../../core/release/compare.ts'
import type { InspectParts } from '../../core/release/inspect.ts'
import { inspectCrate } from '../../core/release/inspect.ts'
import type { PublishMetadata } from '../../core/release/metadata.ts'
import { publishMetadata } from '../../core/release/metadata.ts'
import type { Release, ReleaseParts } from '../../core/release/release.ts'
import { findReadme, makeRelease } from '../../core/release/release.ts'
import { buildCrate, type CrateParts } from '../support/crate-builder.ts'
import { frugally } from '../support/processor-time.ts'
import { LIMITS, opener, readArchive } from '../support/read-archive.ts'

const OWN = 'sparse+https://crates.example/index/'
const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'
const CKSUM = 'ab'.repeat(32)

/** The release that a crate of these parts becomes. */
async function releaseOf(
  crate: Partial<CrateParts>,
  more: Partial<ReleaseParts> = {},
): Promise<Release> {
  const bytes = buildCrate({ name: 'demo', version: '1.0.0', ...crate })
  const archive = await readArchive(opener(bytes), LIMITS)
  const manifest = parseManifest(archive.manifest)
  const ownIndexUrls = new Set([OWN])
  const file = { cksum: CKSUM, size: bytes.length, pubtime: '2026-11-20T12:00:00Z', readme: null }
  return makeRelease({ archive, manifest, ownIndexUrls, ...file, ...more })
}

function metadata(input: object): PublishMetadata {
  return v.parse(publishMetadata, { name: 'demo', vers: '1.0.0', ...input })
}

test('a crate becomes a release with the entry that Cargo expects', async () => {
  const release = await releaseOf({
    manifest: `
rust-version = "1.70"
links = "z"
[dependencies]
serde = { version = "1", optional = true, default-features = false, features = ["derive"] }
alias = { version = "0.3", package = "real-name", registry-index = "${OWN}" }
[target.'cfg(unix)'.build-dependencies]
cc = ">=1.0, <2"
[features]
default = ["ser"]
ser = ["dep:serde"]
plain = []
`,
  })
  assert.equal(
    renderEntry(release.entry),
    `{"name":"demo","vers":"1.0.0","deps":[` +
      `{"name":"alias","req":"^0.3","features":[],"optional":false,"default_features":true,"target":null,"kind":"normal","registry":null,"package":"real-name"},` +
      `{"name":"cc","req":">=1.0, <2","features":[],"optional":false,"default_features":true,"target":"cfg(unix)","kind":"build","registry":"${CRATES_IO}","package":null},` +
      `{"name":"serde","req":"^1","features":["derive"],"optional":true,"default_features":false,"target":null,"kind":"normal","registry":"${CRATES_IO}","package":null}],` +
      `"cksum":"${CKSUM}","features":{"plain":[]},"yanked":false,"links":"z",` +
      `"features2":{"default":["ser"],"ser":["dep:serde"]},"v":2,"rust_version":"1.70","pubtime":"2026-11-20T12:00:00Z"}`,
  )
  assert.equal(release.about.description, 'A crate for tests')
  assert.equal(release.about.has_lib, true)
})

test('the registry of a dependency: ours is null, crates.io has its git URL, another keeps its own', async () => {
  const registry = async (line: string, own: string[], more: Partial<ReleaseParts> = {}) => {
    const manifest = `[dependencies]\na = { version = "1"${line} }`
    const release = await releaseOf({ manifest }, { ownIndexUrls: new Set(own), ...more })
    return release.entry.deps[0]?.registry
  }
  const index = (url: string) => `, registry-index = "${url}"`
  assert.equal(await registry('', []), CRATES_IO)
  assert.equal(await registry('', [CRATES_IO]), null)
  assert.equal(await registry('', [`${CRATES_IO}/`]), null)
  assert.equal(await registry(index(OWN), [OWN]), null)
  assert.equal(await registry(index(OWN), [OWN.slice(0, -1)]), null)
  assert.equal(await registry(index(OWN.slice(0, -1)), [OWN]), null)
  assert.equal(await registry(index(`${OWN}/`), [OWN]), `${OWN}/`)
  assert.equal(
    await registry(index('https://other.example/i.git'), [OWN]),
    'https://other.example/i.git',
  )
})

test('an alias of this registry is learnt from the metadata, and only from a manifest that names it', async () => {
  const alias = 'sparse+http://localhost:8080/index/'
  const manifest = `
[dependencies]
a = { version = "1", registry-index = "${alias}" }
b = "1"
[target.'cfg( unix )'.dev-dependencies]
c = { version = "1", registry-index = "${alias}" }`
  const dep = (name: string, more: object = {}) => ({ name, version_req: '^1', ...more })
  const crates = dep('b', { registry: CRATES_IO })
  const sent = metadata({
    deps: [dep('a'), crates, dep('c', { kind: 'dev', target: 'cfg(unix)' })],
  })
  const release = await releaseOf({ manifest }, { metadata: sent })
  assert.deepEqual(
    release.entry.deps.map(dep => dep.registry),
    [null, CRATES_IO, null],
  )
  assert.deepEqual(compareMetadata(release, sent), [])

  const wrong = metadata({
    deps: [
      dep('a', { registry: alias }),
      dep('b'),
      dep('c', { kind: 'dev', target: 'cfg(unix)', registry: alias }),
    ],
  })
  const foreign = await releaseOf({ manifest }, { metadata: wrong })
  assert.deepEqual(
    foreign.entry.deps.map(dep => dep.registry),
    [alias, CRATES_IO, alias],
  )
  assert.deepEqual(
    compareMetadata(foreign, wrong).map(issue => issue.message),
    [
      `\`registry\` of the dependency \`b\` is this registry in the publish metadata, but \`${CRATES_IO}\` in the \`Cargo.toml\` of the crate file`,
    ],
  )
})

test('a URL of ours in the metadata is this registry', async () => {
  const release = await releaseOf({
    manifest: `[dependencies]\na = { version = "1", registry-index = "${OWN}" }`,
  })
  const sent = metadata({ deps: [{ name: 'a', version_req: '^1', registry: OWN.slice(0, -1) }] })
  assert.deepEqual(compareMetadata(release, sent, new Set([OWN])), [])
  assert.equal(compareMetadata(release, sent).length, 1)
})

test('a target is the same as Cargo sends it, which takes `r#true` for `true`', async () => {
  const manifest = '[target."cfg(any(r#true,r#a, r#false=\'x\'))".dependencies]\na = "1"'
  const release = await releaseOf({ manifest: manifest.replaceAll("'", '\\"') })
  const dep = { name: 'a', version_req: '^1', registry: CRATES_IO }
  const sent = (target: string) => metadata({ deps: [{ ...dep, target }] })
  assert.deepEqual(compareMetadata(release, sent('cfg(any(true, r#a, r#false = "x"))')), [])
  assert.equal(compareMetadata(release, sent('cfg(any(true, a, r#false = "x"))')).length, 2)
  assert.equal(release.entry.deps[0]?.target, 'cfg(any(r#true, r#a, r#false = "x"))')
})

/** One dependency under targets that print alike, with other features under each. */
const ALIKE = `
[target.'cfg(a="b")'.dependencies]
libc = { version = "1", features = ["two"] }
[target.'cfg(a = "b")'.dependencies]
libc = { version = "1", features = ["one", "zero"] }
[target.'cfg( a = "b", )'.build-dependencies]
other = { version = "2", package = "libc" }
[target.'cfg(a="b" )'.build-dependencies]
other = { version = "2", package = "libc", default-features = false }
`
const alikeDep = (target: string, features: string[], more = {}) => ({
  ...{ name: 'libc', version_req: '^1', registry: CRATES_IO, target, features },
  ...more,
})
const OTHER = { version_req: '^2', kind: 'build', explicit_name_in_toml: 'other' }
const ALIKE_SENT = [
  alikeDep('cfg(a = "b")', ['zero', 'one']),
  alikeDep('cfg(a = "b")', [], { ...OTHER, default_features: false }),
  alikeDep('cfg(a="b")', ['two']),
  alikeDep('cfg(a = "b")', [], OTHER),
]

test('dependencies under targets that print alike are compared in any order', async () => {
  const release = await releaseOf({ manifest: ALIKE.replaceAll(', )', ')') })
  const compare = (deps: object[]) =>
    compareMetadata(release, metadata({ deps })).map(issue => issue.message)
  assert.deepEqual(compare(ALIKE_SENT), [])
  assert.deepEqual(compare(ALIKE_SENT.toReversed()), [])
  const [first, ...rest] = ALIKE_SENT
  const what = 'dependency `libc` for `cfg(a = "b")`'
  assert.deepEqual(compare(rest), [`the ${what} is ${TAIL}, but not in the publish metadata`])
  assert.deepEqual(compare([...ALIKE_SENT, { ...first }]), [
    `the ${what} is in the publish metadata, but not ${TAIL}`,
  ])
  assert.deepEqual(compare([...rest, { ...first, features: ['one'] }]), [
    differs(`\`features\` of the ${what}`, '["one"]', '["one","zero"]'),
  ])
})

for (const size of [1, 1800])
  test(`500 dependencies under targets that print alike cost a moment, with ${size} characters of features each`, async () => {
    const names = Array.from({ length: 500 }, (_, at) => `${'f'.repeat(size)}${at}`)
    const manifest = '[target."cfg(unix)".dependencies]\nlibc = "1"'
    const { entry, ...identity } = await releaseOf({ manifest })
    const packaged = names.map(name => ({ ...(entry.deps[0] as Dependency), features: [name] }))
    const release = { ...identity, entry: { ...entry, deps: packaged } }
    const deps = names.map(name => alikeDep('cfg(unix)', [name])).toReversed()
    const sent = metadata({ deps })
    assert.deepEqual(compareMetadata(release, sent), [])
    const costs = Array.from({ length: 20 }, () => {
      const before = process.cpuUsage()
      compareMetadata(release, sent)
      return process.cpuUsage(before).user / 1000
    })
    assert.ok(Math.min(...costs) <= 20, `${Math.min(...costs)} ms of processor time`)
  })

/** A manifest, the metadata that agrees with it, and changes to that metadata with the objections they bring. */
const MANIFEST = `
[dependencies]
alias = { version = "1.0", package = "real", features = ["x", "y"], registry-index = "${OWN}" }
[target.'cfg(any(unix,target_os="a b"))'.build-dependencies]
cc = { version = ">=1,<2", optional = true, default-features = false }
[features]
default = ["std", "dep:cc"]
std = []
constructor = []
`
const ALIAS = {
  name: 'real',
  explicit_name_in_toml: 'alias',
  version_req: '^1.0',
  features: ['y', 'x', ''],
}
const CC = {
  name: 'cc',
  version_req: '>= 1, <2',
  optional: true,
  default_features: false,
  kind: 'build',
  target: 'cfg(any(unix, target_os = "a b"))',
  registry: `${CRATES_IO}/`,
}
const FEATURES = { default: ['dep:cc', 'std'], std: [], constructor: [] }
const CC_NAME = 'build-dependency `cc` for `cfg(any(unix, target_os = "a b"))`'
const TAIL = 'in the `Cargo.toml` of the crate file'

const differs = (what: string, sent: string, packaged: string) =>
  `${what} is \`${sent}\` in the publish metadata, but \`${packaged}\` ${TAIL}`
const ofAlias = (field: string, sent: string, packaged: string) =>
  differs(`\`${field}\` of the dependency \`alias\``, sent, packaged)
const onlySent = (name: string) =>
  `the dependency \`${name}\` is in the publish metadata, but not ${TAIL}`

const COMPARISONS: readonly (readonly [string, object, string[]])[] = [
  ['order, printing, spaces and empty features do not count', {}, []],
  ['unknown fields do not count', { deps: [{ ...ALIAS, odd: 1 }, CC], strange: true }, []],
  ['name', { name: 'Demo' }, [differs('`name`', 'Demo', 'demo')]],
  ['version', { vers: '1.0.0+x' }, [differs('`vers`', '1.0.0+x', '1.0.0')]],
  [
    'a dependency less',
    { deps: [ALIAS] },
    [`the ${CC_NAME} is ${TAIL}, but not in the publish metadata`],
  ],
  [
    'a dependency more',
    { deps: [ALIAS, CC, { name: 'evil', version_req: '*' }] },
    [onlySent('evil')],
  ],
  ['the same dependency twice', { deps: [ALIAS, ALIAS, CC] }, [onlySent('alias')]],
  [
    'another package behind the same name',
    { deps: [{ ...ALIAS, name: 'evil' }, CC] },
    [ofAlias('name', '"evil"', '"real"')],
  ],
  [
    'requirement, features and switches',
    {
      deps: [
        { ...ALIAS, version_req: '1.1', features: ['x'], optional: true, default_features: false },
        CC,
      ],
    },
    [
      ofAlias('version_req', '"^1.1"', '"^1.0"'),
      ofAlias('features', '["x"]', '["x","y"]'),
      ofAlias('optional', 'true', 'false'),
      ofAlias('default_features', 'false', 'true'),
    ],
  ],
  [
    'a requirement that is none',
    { deps: [{ ...ALIAS, version_req: 'v1' }, CC] },
    [
      '`v1` is not a version requirement that Cargo accepts; write for example `1.2`, `>=1, <3` or `*`',
    ],
  ],
  [
    'an artifact',
    { deps: [{ ...ALIAS, artifact: ['bin'], lib: true }, CC] },
    [ofAlias('artifact', '["bin"]', 'null'), ofAlias('lib', 'true', 'false')],
  ],
  [
    'features',
    { features: { ...FEATURES, std: ['alias/x'], extra: [] } },
    [
      differs('the feature `std`', '["alias/x"]', '[]'),
      `the feature \`extra\` is \`[]\` in the publish metadata, but absent ${TAIL}`,
    ],
  ],
]

for (const [what, change, expected] of COMPARISONS) {
  test(`metadata against manifest: ${what}`, async () => {
    const release = await releaseOf({ manifest: MANIFEST })
    const issues = compareMetadata(
      release,
      metadata({ deps: [ALIAS, CC], features: FEATURES, ...change }),
    )
    assert.deepEqual(
      issues.map(issue => issue.message),
      expected,
    )
    assert.ok(issues.every(issue => issue.severity === 'error'))
  })
}

test('metadata that says less of a feature is warned of: some Cargos leave out what names renamed dependencies', async () => {
  const release = await releaseOf({ manifest: MANIFEST })
  const sent = metadata({ deps: [ALIAS, CC], features: { default: ['std'], std: [] } })
  assert.deepEqual(
    compareMetadata(release, sent).map(({ severity, message }) => `${severity}: ${message}`),
    [
      `error: the feature \`constructor\` is absent in the publish metadata, but \`[]\` ${TAIL}`,
      `warning: ${differs('the feature `default`', '["std"]', '["dep:cc","std"]')}`,
    ],
  )
})

test('publish metadata: only name and version must be there, null is nothing', () => {
  const least = metadata({})
  const nothing = ['deps', 'features', 'authors', 'badges', 'readme', 'links']
  assert.deepEqual(least, metadata(Object.fromEntries(nothing.map(field => [field, null]))))
  assert.deepEqual(least.deps, [])
  assert.equal(least.rust_version, null)
  const [dependency] = metadata({
    deps: [{ name: 'a', version_req: '1', kind: null, default_features: null }],
  }).deps
  assert.equal(dependency?.kind, 'normal')
  assert.equal(dependency?.default_features, true)
  for (const bad of [
    { name: 1 },
    { vers: null },
    { deps: {} },
    { deps: [{ name: 'a' }] },
    { features: { a: 'b' } },
    { features: [] },
    { badges: { a: 1 } },
  ]) {
    assert.equal(
      v.safeParse(publishMetadata, { name: 'demo', vers: '1.0.0', ...bad }).success,
      false,
      JSON.stringify(bad),
    )
  }
  const trap = JSON.parse('{"__proto__":["a"],"prototype":[],"constructor":["b"]}')
  assert.deepEqual(Object.keys(metadata({ features: trap }).features), [
    '__proto__',
    'prototype',
    'constructor',
  ])
})

test('metadata that repeats itself is compared in a moment', async () => {
  const release = await releaseOf({})
  const deps = Array.from({ length: 30_000 }, () => ({ name: 'a', version_req: '1' }))
  assert.equal(frugally(() => compareMetadata(release, metadata({ deps }))).length, 30_000)
})

test('a pubtime that Cargo could not read never gets into an entry', async () => {
  await assert.rejects(releaseOf({}, { pubtime: new Date(0).toISOString() }), TypeError)
})

test('targets and README are found as Cargo finds them', async () => {
  const about = async (manifest: string, paths: string[]) => {
    const files = Object.fromEntries(paths.map(path => [path, '']))
    const { about: described } = await releaseOf({ manifest, files })
    return [described.has_lib, described.bin_names, described.readme_file]
  }
  type About = [manifest: string, paths: string[], found: unknown[]]
  const rows: About[] = [
    ['', ['src/lib.rs'], [true, [], null]],
    ['', ['src/main.rs', 'README.md', 'README'], [false, ['demo'], 'README.md']],
    [
      '',
      ['src/bin/b.rs', 'src/bin/a/main.rs', 'src/bin/a/mod.rs', 'README.txt', 'docs/README.md'],
      [false, ['a', 'b'], 'README.txt'],
    ],
    ['autobins = false\nautolib = false', ['src/lib.rs', 'src/main.rs'], [false, [], null]],
    [
      'readme = "./docs//r.md"\n[lib]\npath = "lib.rs"',
      ['lib.rs', 'docs/r.md'],
      [true, [], 'docs/r.md'],
    ],
    [
      'readme = "../r.md"\n[[bin]]\nname = "tool"\npath = "x.rs"',
      ['x.rs', 'r.md'],
      [false, ['tool'], null],
    ],
    ['readme = false', ['README.md'], [false, [], null]],
  ]
  for (const [manifest, paths, expected] of rows)
    assert.deepEqual(await about(manifest, paths), expected)
  const bytes = buildCrate({ name: 'demo', version: '1.0.0', files: { README: 'x' } })
  const archive = await readArchive(opener(bytes), LIMITS)
  assert.equal(findReadme(parseManifest(archive.manifest), archive.files), 'README')
})

test('from bytes to release in one step', async () => {
  const inspect = async (crate: Partial<CrateParts>, more: Partial<InspectParts> = {}) => {
    const bytes = buildCrate({ name: 'demo', version: '1.0.0', ...crate })
    const file = { cksum: CKSUM, size: bytes.length, pubtime: null, ownIndexUrls: new Set([OWN]) }
    return inspectCrate(opener(bytes), { limits: LIMITS, ...file, ...more })
  }
  const told = ({ issues }: { issues: readonly Issue[] }) =>
    issues.map(({ severity, code }) => `${severity} ${code}`)
  const good = await inspect({ files: { 'README.md': '# Hé' } }, { metadata: metadata({}) })
  assert.equal(good.release?.readme, '# Hé')
  assert.equal(good.release?.about.readme_file, 'README.md')
  assert.equal(good.release?.entry.cksum, CKSUM)
  assert.deepEqual(good.issues, [])

  const large = await inspect(
    { files: { README: 'x'.repeat(100) } },
    { limits: { ...LIMITS, readmeBytes: 99 } },
  )
  assert.equal(large.release?.readme, null)
  assert.deepEqual(told(large), ['warning readme_too_large'])
  const missing = await inspect({ manifest: 'readme = "gone.md"' })
  assert.deepEqual(told(missing), ['warning readme_missing'])
  const program = { files: { 'src/main.rs': '' }, manifest: '[lib]\nname = "demo"' }
  assert.deepEqual(told(await inspect(program)), ['error library_missing'])
  const old = '[package]\nname = "demo"\nversion = "1.0.0"\n[lib]\nname = "other"'
  assert.deepEqual(told(await inspect({ files: { 'src/other.rs': '' }, manifest: old })), [])
  const latin = await inspect({ files: { README: new Uint8Array([0x61, 0xe9]) } })
  assert.equal(latin.release?.readme, 'a\ufffd')

  const sent = metadata({ vers: '1.0.1', features: { x: [] } })
  const otherwise = await inspect({}, { metadata: sent })
  assert.deepEqual(told(otherwise), ['error metadata_identity', 'error metadata_feature'])

  const wrong = await inspect(
    {
      files: { 'a\\b': '', README: '' },
      manifest: 'links = "z"\n[features]\nx = ["none"]',
    },
    { metadata: metadata({ links: 'other', features: { x: ['none'] } }) },
  )
  const codes = ['archive_path', 'feature_value_unknown', 'metadata_identity']
  assert.deepEqual(
    told(wrong),
    codes.map(code => `error ${code}`),
  )
  assert.equal(
    wrong.issues[2]?.message,
    '`links` is `other` in the publish metadata, but `z` in the `Cargo.toml` of the crate file',
  )
  const other = await inspect({ manifest: '[package]\nname = "other"\nversion = "2.0.0"' })
  assert.equal(
    String(other.issues.map(issue => issue.message)),
    'the crate file was sent as demo 1.0.0, but its `Cargo.toml` says other 2.0.0',
  )
})
