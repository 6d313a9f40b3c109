import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dependency, Entry } from '../../../core/entry/entry.ts'
import type { Name } from '../../../core/name.ts'
import { parseName } from '../../../core/name.ts'
import type { PolicyInfo, PolicyRelease } from '../../../core/policy/policy.ts'
import { checkPolicy, policyQuestions } from '../../../core/policy/policy.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { parseVersion } from '../../../core/version.ts'
import { none } from '../../support/none.ts'
import { dependency as plain, entry as plainEntry } from '../../support/release.ts'

const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'
const names = (...texts: string[]): Name[] => texts.map(parseName)

/** A dependency on serde 1, with changes. */
const dependency = (fields: Partial<Dependency>) => plain('serde', '^1.0', fields)

type About = PolicyRelease['about']

/** A release that both presets accept, with changes. */
function release(
  about: Partial<About> = {},
  entry: Partial<Entry> = {},
  name = 'sample',
  vers = '1.0.0',
): PolicyRelease {
  return {
    name: parseName(name),
    version: parseVersion(vers),
    entry: plainEntry({ name, vers, ...entry }),
    about: {
      edition: null,
      description: 'A sample.',
      homepage: null,
      documentation: null,
      repository: 'https://git.example/sample',
      license: 'MIT OR Apache-2.0',
      license_file: null,
      readme_file: null,
      keywords: [],
      categories: [],
      authors: [],
      badges: {},
      ...about,
    },
  }
}

const NOTHING: PolicyInfo = {
  existing: null,
  lookAlikes: [],
  missingDependencies: [],
  namesakes: [],
}

function policy(text = ''): Settings['policy'] {
  return resolveSettings({ file: { name: 'plimsoll.toml', text: `[policy]\n${text}` } }).settings
    .policy
}
const PRIVATE = policy()
const PUBLIC = policy('preset = "public"')

/** `severity code` of every objection. */
function verdict(
  subject: PolicyRelease,
  rules: Settings['policy'],
  info: Partial<PolicyInfo> = {},
): string[] {
  return checkPolicy(subject, { ...NOTHING, ...info }, rules).issues.map(
    each => `${each.severity} ${each.code}`,
  )
}

function words(
  subject: PolicyRelease,
  rules: Settings['policy'],
  info: Partial<PolicyInfo> = {},
): string[] {
  return checkPolicy(subject, { ...NOTHING, ...info }, rules).issues.map(each => each.message)
}

test('a decent release pleases both presets', () => {
  const subject = release({
    keywords: ['parser', 'c++', '3d'],
    categories: ['science::geo'],
    badges: { maintenance: {} },
  })
  for (const rules of [PRIVATE, PUBLIC]) {
    assert.deepEqual(checkPolicy(subject, NOTHING, rules), {
      issues: [],
      invalidCategories: [],
      invalidBadges: [],
    })
  }
})

const from = (registry: string) => ({ deps: [dependency({ registry })] })

/** A release for each key, or several, and what the records say of it. */
const levels: [key: string, subject: PolicyRelease, facts: Partial<PolicyInfo>][] = [
  ['description', release({ description: null }), {}],
  ['description', release({ description: ' \n' }), {}],
  ['license', release({ license: '' }), {}],
  ['license_expression', release({ license: 'X' }), {}],
  ['url_rules', release({ documentation: 'docs' }), {}],
  ['url_rules', release({ repository: 'git@git.example:a/b' }), {}],
  ['url_rules', release({ homepage: 'javascript:alert(1)' }), {}],
  ['keyword_rule', release({ keywords: [''] }), {}],
  ['reserved_names', release({}, {}, 'std'), {}],
  ['reserved_names', release({}, {}, 'LPT1'), {}],
  ['look_alikes', release({}, {}, 'serd'), { lookAlikes: names('serde') }],
  ['wildcard_requirement', release({}, { deps: [dependency({ req: '*' })] }), {}],
  [
    'dependency_exists',
    release({}, { deps: [dependency({})] }),
    { missingDependencies: names('serde') },
  ],
  ['foreign_registries', release({}, from(CRATES_IO)), {}],
  ['foreign_registries', release({}, from('https://a.example/index')), {}],
  ['path_dependency_trap', release({}, from(CRATES_IO)), { namesakes: names('serde') }],
]
for (const [key, subject, info] of levels) {
  test(`policy.${key} at each level`, () => {
    const at = (level: string) =>
      verdict(subject, policy(`${key} = "${level}"`), info).map(each => each.split(' ')[0])
    assert.deepEqual([at('error'), at('warn'), at('off')], [['error'], ['warning'], []])
  })
}

const limits: [key: string, over: PolicyRelease, code: string][] = [
  ['name_max = 5', release(), 'name_too_long'],
  ['version_max = 5', release({}, {}, 'sample', '10.0.0'), 'version_too_long'],
  ['description_max = 8', release(), 'description_too_long'],
  ['keywords_max = 0', release({ keywords: ['a'] }), 'keywords_too_many'],
  ['keyword_length_max = 1', release({ keywords: ['ab'] }), 'keyword_too_long'],
  ['categories_max = 1', release({ categories: ['wasm', 'games'] }), 'categories_too_many'],
  ['features_max = 1', release({}, { features: { a: [], b: [] } }), 'features_too_many'],
  [
    'feature_items_max = 1',
    release({}, { features: { a: ['b', 'c'], b: [], c: [] } }),
    'feature_items_too_many',
  ],
  ['dependencies_max = 0', release({}, { deps: [dependency({})] }), 'dependencies_too_many'],
  ['reserved_names_extra = ["Sam_ple"]', release({}, {}, 'sam-ple'), 'name_reserved'],
]
/** What goes beyond the limits of both presets. */
const beyond: [code: string, over: PolicyRelease][] = [
  ['description_too_long', release({ description: 'é'.repeat(501) })],
  ['keywords_too_many', release({ keywords: [...'abcdef'] })],
  ['keyword_too_long', release({ keywords: ['x'.repeat(21)] })],
  ['categories_too_many', release({ categories: Array(6).fill('wasm') })],
  ['version_too_long', release({}, {}, 'sample', `1.0.0-${'a'.repeat(145)}`)],
]
for (const [key, over, code] of limits) {
  test(`policy.${key}`, () => {
    assert.deepEqual(verdict(over, policy(key)), [`error ${code}`])
    assert.deepEqual(verdict(over, PRIVATE), [])
  })
}

test('both presets have the limits of crates.io', () => {
  for (const [code, over] of beyond)
    for (const rules of [PRIVATE, PUBLIC]) assert.deepEqual(verdict(over, rules), [`error ${code}`])
})

test('too many keywords or categories hide no other objection to those that may stay', () => {
  const subject = release({ keywords: [...'abcd', 'e f', 'g h'], categories: [...'abcdef'] })
  assert.deepEqual(verdict(subject, PRIVATE), [
    'error keywords_too_many',
    'error categories_too_many',
    'warning keyword_invalid',
    ...Array(5).fill('warning category_unknown'),
  ])
})

test('every key of the policy is tried here', () => {
  const tried = [...levels, ...limits].map(([key]) => key.split(' ')[0])
  const elsewhere =
    'preset categories unknown_category badges allowed_registries duplicate_manifest reserved_prefixes'.split(
      ' ',
    )
  assert.deepEqual(new Set([...tried, ...elsewhere]), new Set(Object.keys(PRIVATE)))
})

test('what is reserved or looks alike matters to new crates only', () => {
  const subject = release({}, {}, 'core')
  none(verdict(subject, PUBLIC, { existing: { name: subject.name }, lookAlikes: names('cores') }))
})

test('candidates that do not look alike are left out', () => {
  const subject = release({}, {}, 'serd')
  assert.deepEqual(words(subject, PRIVATE, { lookAlikes: names('serde', 'sand', 'SERD') }), [
    'the crate name `serd` is easily mistaken for the existing `serde`; choose a name that differs more',
  ])
})

test('an unknown category weighs what its setting says, and no list allows all', () => {
  const subject = release({ categories: ['parsing', 'foo', 'foo', '__proto__'] })
  const said = (text: string) =>
    checkPolicy(subject, NOTHING, policy(text)).issues.map(
      ({ severity, message }) => `${severity}: ${/`(\w+)`/.exec(message)?.[1]}`,
    )
  const category = 'categories = ["parsing"]\n'
  assert.deepEqual(said(category), ['warning: foo', 'warning: __proto__'])
  // Publishers are told in a field of the answer.
  const told = checkPolicy(subject, NOTHING, policy(category)).invalidCategories
  assert.deepEqual(told, ['foo', '__proto__'])
  assert.deepEqual(said('categories = ["crates-io", "foo", "parsing"]'), ['warning: __proto__'])
  assert.deepEqual(said('categories = []'), [])
  assert.deepEqual(said(`${category}unknown_category = "off"`), [])
  assert.deepEqual(said(`${category}unknown_category = "error"`), [
    'error: foo',
    'error: __proto__',
  ])
})

test('unknown badges are told', () => {
  const badges = JSON.parse('{"travis-ci": {}, "sparkles": {}, "__proto__": {}}') as About['badges']
  assert.deepEqual(checkPolicy(release({ badges }), NOTHING, PRIVATE).invalidBadges, [
    'sparkles',
    '__proto__',
  ])
  none(checkPolicy(release({ badges }), NOTHING, policy('badges = []')).invalidBadges)
})

const licenses: [text: string, good: boolean][] = [
  ['MIT', true],
  ['MIT OR Apache-2.0', true],
  ['MIT/Apache-2.0', true],
  ['MIT / Apache-2.0', true],
  ['(MIT OR Apache-2.0) AND BSD-3-Clause', true],
  ['GPL-3.0', true],
  ['GPL-3.0+', true],
  ['GPL-2.0-only WITH Classpath-exception-2.0', true],
  ['Apache-2.0 WITH LLVM-exception', true],
  ['LicenseRef-Ours', true],
  ['BSD', false],
  ['Apache 2.0', false],
  ['MIT OR', false],
  ['MIT OR Apache-2.0)', false],
  ['OR', false],
  ['/', false],
  ['%0BSD', false],
  ['MIT\u001b[31m', false],
  ['MIT\n', false],
  ['('.repeat(100_000), false],
  [`MIT${' OR MIT'.repeat(100)}`, true],
]
for (const [license, good] of licenses) {
  test(`the license ${JSON.stringify(license.slice(0, 50))}`, () => {
    assert.deepEqual(verdict(release({ license }), PUBLIC), good ? [] : ['error license_invalid'])
  })
}

test('a license file is a license', () => {
  assert.deepEqual(verdict(release({ license: null, license_file: 'LICENCE' }), PUBLIC), [])
})

const urls: [url: string, good: boolean][] = [
  ['https://a.example', true],
  ['http://a.example/x?y#z', true],
  ['HTTP://a.example', false],
  ['', true],
  ['https://', false],
  ['//a.example', false],
  [' https://a.example', false],
  ['https://a.example/a b', false],
  ['https://a.example\n', false],
  ['ftp://a.example', false],
  ['data:text/html,x', false],
  ['https://[::1', false],
]
for (const [homepage, good] of urls) {
  test(`the URL ${JSON.stringify(homepage)}`, () => {
    assert.deepEqual(verdict(release({ homepage }), PUBLIC), good ? [] : ['error url_invalid'])
  })
}

type DependencyCase = [what: string, given: Partial<Dependency>, objection: string | null]
const dependencyCases: DependencyCase[] = [
  ['a rename with an underscore', { name: '_json', package: 'serde_json' }, null],
  ['a partial wildcard', { req: '1.*' }, null],
  ['features', { features: ['derive', 'tokio/rt'] }, null],
  ['an empty name', { name: '' }, 'dependency_name_invalid'],
  ['an empty package', { name: 'a', package: '' }, 'dependency_name_invalid'],
  ['an empty rename', { name: '', package: 'serde' }, 'dependency_rename_invalid'],
  ['a path as name', { name: '../serde' }, 'dependency_name_invalid'],
  ['a leading underscore', { name: '_serde' }, 'dependency_name_invalid'],
  ['a long rename', { name: 'a'.repeat(65), package: 'serde' }, 'dependency_rename_invalid'],
  ['a rename with a dot', { name: 'a.b', package: 'serde' }, 'dependency_rename_invalid'],
  ['dep: among features', { features: ['dep:serde'] }, 'dependency_feature_invalid'],
  ['an empty feature', { features: [''] }, 'dependency_feature_invalid'],
  ['two slashes in a feature', { features: ['a/b/c'] }, 'dependency_feature_invalid'],
]
for (const [what, fields, objection] of dependencyCases) {
  test(`dependencies: ${what}`, () => {
    const subject = release({}, { deps: [dependency(fields)] })
    assert.deepEqual(verdict(subject, PRIVATE), objection === null ? [] : [`error ${objection}`])
  })
}

test('an optional dev-dependency', () => {
  const subject = release({}, { deps: [dependency({ kind: 'dev', optional: true })] })
  assert.deepEqual(verdict(subject, PRIVATE), ['error dependency_dev_optional'])
})

test('missing dependencies are named once, with the spelling there is', () => {
  const deps = [
    dependency({ name: 'foo_bar' }),
    dependency({ name: 'other', package: 'foo_bar', kind: 'dev' }),
    dependency({ name: 'nix' }),
    dependency({ name: 'sample', kind: 'dev' }),
  ]
  const info = {
    missingDependencies: names('foo_bar', 'nix', 'sample'),
    otherSpellings: names('foo-bar'),
  }
  assert.deepEqual(words(release({}, { deps }), PRIVATE, info), [
    'this registry has no crate `foo_bar`, on which the crate depends, but it has `foo-bar`; spell the dependency that way',
    'this registry has no crate `nix`, on which the crate depends; publish that one first, or name the registry it comes from: crates.io needs no `registry`',
  ])
})

test('the trap of path dependencies is explained', () => {
  const deps = [
    dependency({ name: 'core-of-us', registry: CRATES_IO }),
    dependency({ registry: `${CRATES_IO}/` }),
  ]
  assert.deepEqual(words(release({}, { deps }), PRIVATE, { namesakes: names('core_of_us') }), [
    'the dependency `core-of-us` is taken from crates.io, but this registry has a crate of that name; if that one is meant, as for a member of your workspace, add `registry = "…"` with the name of this registry to the dependency and publish again',
  ])
})

test('where crates.io is refused, the trap is the one objection to a crate that is here, and explains it', () => {
  const deps = [
    dependency({ name: 'core-of-us', registry: CRATES_IO }),
    dependency({ registry: CRATES_IO }),
  ]
  const info = { namesakes: names('core_of_us') }
  const subject = release({}, { deps })
  assert.deepEqual(verdict(subject, PUBLIC, info), [
    'error dependency_path_trap',
    'error dependency_foreign',
  ])
  assert.match(
    words(subject, PUBLIC, info)[1] ?? '',
    /^the dependency `serde` comes from another registry, /,
  )
  for (const url of [CRATES_IO, 'sparse+https://index.crates.io/']) {
    const allowed = policy(`preset = "public"\nallowed_registries = ["${url}"]`)
    assert.deepEqual(verdict(subject, allowed, info), ['warning dependency_path_trap'])
  }
  const unexplained = policy('preset = "public"\npath_dependency_trap = "off"')
  assert.deepEqual(verdict(subject, unexplained, info), [
    'error dependency_foreign',
    'error dependency_foreign',
  ])
})

test('allowed registries are no foreign ones, however they are written', () => {
  const deps = [
    dependency({ registry: CRATES_IO }),
    dependency({ name: 'a', registry: 'sparse+https://A.example/index/' }),
  ]
  const rules = policy(
    `preset = "public"\nallowed_registries = ["${CRATES_IO}", "sparse+https://a.example/index"]\nlook_alikes = "off"`,
  )
  assert.deepEqual(words(release({}, { deps }), rules), [])
  assert.deepEqual(words(release({}, { deps: [dependency({ registry: CRATES_IO })] }), PUBLIC), [
    'the dependency `serde` comes from another registry, https://github.com/rust-lang/crates.io-index, which this one does not allow; publish it here and add `registry = "…"` with the name of this registry to the dependency, or ask the operator to add that URL to `policy.allowed_registries`',
  ])
})

test('the questions to the records', () => {
  const deps = [
    dependency({}),
    dependency({ name: 'json', package: 'serde_json' }),
    dependency({ name: 'sample', kind: 'dev' }),
    dependency({ name: '' }),
    dependency({ name: 'log', registry: CRATES_IO }),
    dependency({ name: 'rand', registry: 'https://a.example/' }),
  ]
  assert.deepEqual(policyQuestions(release({}, { deps })), {
    ownDependencies: ['serde', 'serde_json'],
    cratesIoDependencies: ['log'],
  })
})

test('messages neither steer a terminal nor grow without bounds', () => {
  const [message = ''] = words(release({ license: `\u001b[2J\u202e${'x'.repeat(5000)}` }), PUBLIC)
  assert.match(message, /^the license `\\u\{1b\}\[2J\\u\{202e\}x+…` is not an SPDX expression; /)
  assert.ok(message.length < 800)
})
