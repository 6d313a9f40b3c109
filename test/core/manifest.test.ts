import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dependency } from '../../core/entry/entry.ts'
import { CRATES_IO } from '../../core/index-url.ts'
import { parseManifest } from '../../core/manifest/parse.ts'
import { frugally } from '../support/processor-time.ts'
import { objectionsTo } from '../support/refusal.ts'

const HEAD = '[package]\nname = "demo"\nversion = "1.0.0"\n'

const messages = (toml: string) => objectionsTo(() => parseManifest(toml))

/** The dependencies in short: kind, target and name, then fields that differ from the default. */
function dependencies(toml: string): string[] {
  return parseManifest(HEAD + toml)
    .dependencies.map(summary)
    .sort()
}

function summary(dep: Dependency): string {
  const { name, kind, target, req, default_features, optional, lib, features, ...others } = dep
  const { registry, ...rest } = others
  const extras = Object.entries({
    ...rest,
    ...(registry === CRATES_IO ? {} : { registry }),
    ...(features.length > 0 ? { features } : {}),
    ...(default_features ? {} : { default_features }),
    ...(optional ? { optional } : {}),
    ...(lib ? { lib } : {}),
  }).filter(([, value]) => value !== null)
  return [
    kind,
    ...(target ? [target] : []),
    name,
    req,
    ...extras.map(([key, value]) => `${key}=${value}`),
  ].join(' ')
}

test('a manifest as Cargo normalises it', () => {
  const manifest = parseManifest(`
[package]
edition = "2024"
rust-version = "1.85"
name = "Demo_crate"
version = "1.2.3-rc.1+b"
authors = ["A <a@x.example>"]
links = "z"
build = false
autobins = false
description = """
Does
things.
"""
homepage = "https://x.example"
documentation = "https://docs.x.example"
readme = "README.md"
keywords = ["a", "b"]
categories = ["parsing"]
license = "MIT OR Apache-2.0"
license-file = "LICENSE"
repository = "https://git.x.example"
metadata = { docs = { rs = { all-features = true } }, constructor = 1 }

[badges.maintenance]
status = "experimental"

[lib]
name = "demo_crate"
path = "src/lib.rs"

[[bin]]
name = "tool"
path = "src/main.rs"

[features]
default = ["std"]
std = ["serde?/std"]
`)
  assert.equal(manifest.name, 'Demo_crate')
  assert.equal(manifest.version, '1.2.3-rc.1+b')
  assert.equal(manifest.links, 'z')
  assert.equal(manifest.rustVersion, '1.85')
  assert.equal(manifest.readmePath, 'README.md')
  assert.equal(manifest.readmeByDefault, false)
  assert.deepEqual(manifest.features, { default: ['std'], std: ['serde?/std'] })
  assert.deepEqual(manifest.targets, {
    lib: { path: 'src/lib.rs' },
    bins: [{ name: 'tool', path: 'src/main.rs' }],
    autolib: true,
    autobins: false,
    hasExamples: false,
  })
  assert.deepEqual(manifest.about, {
    description: 'Does\nthings.\n',
    homepage: 'https://x.example',
    documentation: 'https://docs.x.example',
    repository: 'https://git.x.example',
    license: 'MIT OR Apache-2.0',
    license_file: 'LICENSE',
    readme_file: null,
    keywords: ['a', 'b'],
    categories: ['parsing'],
    authors: ['A <a@x.example>'],
    edition: '2024',
    badges: { maintenance: { status: 'experimental' } },
  })
})

const TABLES: readonly (readonly [string, string, string[]])[] = [
  ['the short form', '[dependencies]\na = "1"', ['normal a ^1']],
  [
    'all kinds',
    '[dependencies]\na = "1"\n[build-dependencies]\na = "2"\n[dev-dependencies]\na = "3"',
    ['build a ^2', 'dev a ^3', 'normal a ^1'],
  ],
  [
    'all kinds of a target',
    `[target.'cfg(unix)'.dependencies]\na = "1"\n[target.'cfg(unix)'.build-dependencies]\na = "2"\n[target.x86_64-pc-windows-gnu.dev-dependencies]\na = "3"`,
    ['build cfg(unix) a ^2', 'dev x86_64-pc-windows-gnu a ^3', 'normal cfg(unix) a ^1'],
  ],
  [
    'a rename',
    '[dependencies.alias]\nversion = "1"\npackage = "real"',
    ['normal alias ^1 package=real'],
  ],
  [
    'a rename to itself',
    '[dependencies]\na = { version = "1", package = "a" }',
    ['normal a ^1 package=a'],
  ],
  [
    'a rename that begins with `_`',
    '[dependencies]\n_a = { version = "1", package = "real" }',
    ['normal _a ^1 package=real'],
  ],
  [
    'every switch',
    '[dependencies.a]\nversion = ">=1, <2"\noptional = true\ndefault-features = false\nfeatures = ["x", "y"]',
    ['normal a >=1, <2 features=x,y default_features=false optional=true'],
  ],
  [
    'another registry',
    '[dependencies.a]\nversion = "1"\nregistry-index = "sparse+https://x.example/index/"',
    ['normal a ^1 registry=sparse+https://x.example/index/'],
  ],
  ['no version at all', '[dependencies.a]\noptional = true', ['normal a * optional=true']],
  ['an unknown key of 2015', '[dependencies.a]\nrustc_serialize = "*"', ['normal a *']],
  [
    'a path and a version, not normalised',
    '[dependencies.a]\npath = "../a"\nversion = "0.1"',
    ['normal a ^0.1'],
  ],
  [
    'a dev-dependency that only a path finds',
    '[dev-dependencies]\na = { path = "../a" }\nb = "1"\nc = { git = "x" }',
    ['dev b ^1'],
  ],
  ['a dev-dependency of any version', '[dev-dependencies]\na = {}', ['dev a *']],
  [
    'names of keys before 2018',
    '[dev_dependencies]\na = { version = "1", default_features = false }\n[build_dependencies]\nb = "1"',
    ['build b ^1', 'dev a ^1 default_features=false'],
  ],
  [
    'of two names of a key, the dashed one',
    '[dev-dependencies]\na = "1"\n[dev_dependencies]\nb = "1"',
    ['dev a ^1'],
  ],
  [
    'of two names of default features, the dashed one',
    '[dependencies.a]\nversion = "1"\ndefault_features = false\ndefault-features = true',
    ['normal a ^1'],
  ],
  [
    'an artifact',
    '[build-dependencies.a]\nversion = "1"\nartifact = "bin"\ntarget = "wasm32-wasip1"\nlib = true\n[dependencies.b]\nversion = "1"\nartifact = ["cdylib", "bin:x"]',
    [
      'build a ^1 artifact=bin bindep_target=wasm32-wasip1 lib=true',
      'normal b ^1 artifact=cdylib,bin:x',
    ],
  ],
]

for (const [what, toml, expected] of TABLES) {
  test(`dependencies: ${what}`, () => assert.deepEqual(dependencies(toml), expected))
}

test('early and odd manifests pass', () => {
  for (const toml of [
    '[project]\nname = "demo"\nversion = "0.0.1"\nauthors = []',
    `\uFEFF${HEAD}`,
    HEAD.replaceAll('\n', '\r\n'),
    `${HEAD}[patch]`,
    `${HEAD}[workspace]\nmembers = ["a"]\n[profile.release]\nlto = true\n[lints.rust]\n`,
  ])
    assert.equal(parseManifest(toml).name, 'demo', toml)
  assert.equal(parseManifest(`${HEAD}edition = "2054"`).about.edition, '2054')
})

test('readme: a path, a switch or nothing', () => {
  const readme = (line: string) => {
    const { readmePath, readmeByDefault } = parseManifest(HEAD + line)
    return [readmePath, readmeByDefault]
  }
  assert.deepEqual(readme(''), [null, true])
  assert.deepEqual(readme('readme = "doc/read.txt"'), ['doc/read.txt', false])
  assert.deepEqual(readme('readme = true'), ['README.md', false])
  assert.deepEqual(readme('readme = false'), [null, false])
})

const must = (field: string, what: string) => `\`${field}\` in \`Cargo.toml\` must be ${what}`
const STRINGS = 'an array of strings'
const NO_TOML = /^`Cargo\.toml` is not valid TOML at line 4: /
const TARGET = 'a target triple or a valid `cfg(…)` with at most 64 levels'
const DEEP = `cfg(${'not('.repeat(60_000)}a${')'.repeat(60_000)})`

type Refused = readonly (readonly [toml: string, said: readonly (string | RegExp)[]])[]

const MISSING = ['name', 'version'].map(
  key => `\`package.${key}\` in \`Cargo.toml\` is missing or not a string`,
)

/** Whole manifests that are refused, and what is said of them. */
const WHOLE: Refused = [
  ['[dependencies]', ['`Cargo.toml` has no `[package]` table']],
  ['[package]', MISSING],
  ['[package.__proto__]\nname = "a"', MISSING],
  [
    '[package]\nname = "1a"\nversion = "1.0.0"',
    ['the crate name `1a` must start with an ASCII letter'],
  ],
  ['[package]\nname = "a"\nversion = "1.0"', [/^`1\.0` is not a valid SemVer 2\.0\.0 version/]],
  [
    '[package]\nname = "a"\nversion = 1.0',
    ['`package.version` in `Cargo.toml` is missing or not a string'],
  ],
  ['[package]\nname = "a"\nversion.workspace = true', [/^`package\.version` .* inherited/]],
  [
    `[package]\nname = ""\nversion = "1"\nlinks = 1\n[dependencies]\na = "v1"\nb.workspace = true`,
    [
      'a crate name cannot be empty',
      /`1` is not a valid SemVer/,
      /`dependencies\.a`/,
      /`dependencies\.b`/,
      /`package\.links`/,
    ],
  ],
]

/** What is refused in a manifest that is good up to there. */
const IN_PACKAGE: Refused = [
  ['x = ', [NO_TOML]],
  ['name = "other"', [NO_TOML]],
  [
    'description = 1\nkeywords = "a"\nauthors = [1]',
    [
      must('package.description', 'a string'),
      must('package.keywords', STRINGS),
      must('package.authors', STRINGS),
    ],
  ],
  ['rust-version = ">=1.60"', [/^`package\.rust-version` in/]],
  ['rust-version = "1.60.0-beta"', [/^`package\.rust-version` in/]],
  ['license.workspace = true', [/^`package\.license` in `Cargo\.toml` is inherited from a work/]],
  [`[target.'cfg('.dependencies]\na = "1"`, [must(`target.'cfg('`, TARGET)]],
  // A target that ends Cargo, even without dependencies.
  [`[target.'${DEEP}']`, [/^`target\.'cfg\(not\(.{500,600} with at most 64 levels$/]],
  [
    `[target.'cfg(a)'.dependencies]\na = { workspace = true }`,
    [/^`target\.'cfg\(a\)'\.dependencies\.a` .* inherited/],
  ],
  ['[patch.crates-io]\na = { path = "a" }', [/has a `\[patch\]` table/]],
  ['[[dependencies]]\na = 1', [must('dependencies', 'a table')]],
  ['[dev-dependencies]\na = { version = "1", optional = true }', [/is optional; a dev-dependency/]],
  ['[features]\na = "b"', [must('features.a', STRINGS)]],
]

/** Dependencies that are refused. */
const IN_DEPENDENCIES: Refused = [
  ['a.workspace = true', [/^`dependencies\.a` .* inherited/]],
  ['a = 1', [must('dependencies.a', 'a version or a table')]],
  ['a = ">=1 <2"', [/^`dependencies\.a` in `Cargo\.toml`: `>=1 <2` is not/]],
  // Of a crate of 2015.
  ['a = "0.2*"', [/^`dependencies\.a` .*`0\.2\*` is not/]],
  ['"../a" = "1"', [/`\.\.\/a` is not a crate name/]],
  ['a = { version = "1", package = "x/y" }', [/`x\/y` is not a crate name/]],
  ['"" = "1"', [/`` is not a crate name/]],
  ['a = { version = "1", registry = "mine" }', [/names the registry `mine` without its URL/]],
  [
    'a = { version = "1", registry-index = "mine" }',
    [must('dependencies.a.registry-index', 'the URL of an index')],
  ],
]

for (const [toml, said] of [
  ...WHOLE,
  ...IN_PACKAGE.map(([toml, said]) => [HEAD + toml, said] as const),
  ...IN_DEPENDENCIES.map(([toml, said]) => [`${HEAD}[dependencies]\n${toml}`, said] as const),
]) {
  test(`refused: ${JSON.stringify(toml.replace(HEAD, '').slice(0, 60))}`, () => {
    const issues = messages(toml)
    assert.equal(issues.length, said.length, issues.join('\n'))
    for (const [at, expected] of said.entries()) {
      if (typeof expected === 'string') assert.equal(issues[at], expected)
      else assert.match(issues[at] ?? '', expected)
    }
  })
}

test('a hostile manifest is read or refused in a moment, with a bounded answer', () => {
  const flood = Array.from({ length: 20_000 }, (_, i) => `d${i} = 1`).join('\n')
  const hostile = [
    `${HEAD}[dependencies]\n${flood}`,
    `${HEAD}x = ${'['.repeat(20_000)}`,
    `${HEAD}x = ${'{a='.repeat(20_000)}`,
    `${HEAD}[${'a.'.repeat(20_000)}b]`,
    `${HEAD}${'a.'.repeat(20_000)}b = 1`,
    `${HEAD}[dependencies]\na = "${'9'.repeat(100_000)}"`,
    `${HEAD}${'[[a]]\n'.repeat(20_000)}`,
    `${HEAD}description = "\\u001b[31m"\nname.x = 1`,
  ]
  for (const toml of hostile) {
    const said = frugally(() => messages(toml), toml.slice(40, 60))
    assert.ok(said.length <= 51)
    assert.ok(
      said.every(text => text.length <= 700 && !/\p{Cc}/u.test(text)),
      said[0],
    )
  }
})

test('a text with U+0000 is refused with its field, wherever it is', () => {
  const fields = [
    ['license = "M\\u0000IT"', 'package.license'],
    ['keywords = ["a", "b\\u0000"]', 'package.keywords[1]'],
    ['edition = "\\u0000"', 'package.edition'],
    ['[features]\n"a\\u0000" = []', 'features.a\\u{0}'],
    ['[badges.x]\ny = "\\u0000"', 'badges.x.y'],
    [
      '[package.metadata.docs]\nanything = [{ at = "\\u0000" }]',
      'package.metadata.docs.anything[0].at',
    ],
    ['[[bin]]\nname = "\\u0000"', 'bin[0].name'],
  ]
  for (const [toml = '', field = ''] of fields)
    assert.ok(
      messages(HEAD + toml).includes(
        `\`${field}\` in \`Cargo.toml\` contains the character U+0000, which no registry can store; remove it`,
      ),
      toml,
    )
  const many = Array.from({ length: 1000 }, () => '"\\u0000"')
  assert.equal(messages(`${HEAD}authors = [${many}]`).length, 20)
})
