import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { renderSettingsFile, tomlValue } from '../../core/settings/file.ts'
import { parseListen, type SettingValue } from '../../core/settings/kind.ts'
import { namedRows } from '../../core/settings/named.ts'
import {
  namedSettings,
  type Setting,
  sectionTexts,
  settingByVariable,
  settingTable,
} from '../../core/settings/schema.ts'
import type { SettingsInput } from '../../core/settings/settings.ts'
import { describeSettings, resolveSettings } from '../../core/settings/settings.ts'
import { root } from '../support/plimsoll.ts'
import { objectionsTo } from '../support/refusal.ts'

/** What stands in docs/run/settings.md above the first section. */
const INTRODUCTION = `# Settings

Each setting has a default. The file \`plimsoll.toml\` in the registry folder overrides the default, the environment overrides the file, and a flag overrides the environment. \`plimsoll settings\` prints every effective value and where it comes from. This page is rendered from the rows in \`core/settings/\`; \`UPDATE_GOLDEN=1 npm test -- core/settings.test\` renders it again.

- **Access does not open by itself.** The daemon records the values of \`auth.*\`, \`owners.*\`, \`policy.*\`, \`registry.api\`, the limits of logins and per day, and the rules of \`upstream.*\` that it starts with. After a restore, on a copy, or in a command without the daemon's environment, the recorded value stays in force if it is narrower. The environment, a flag or a changed line of the file overrides it. \`restore\` and the daemon's log name the values that are kept this way.
- A path is relative to the registry folder, wherever the setting stands.
- In the environment, \`section.key\` is \`PLIMSOLL_SECTION_KEY\`: \`auth.required\` is \`PLIMSOLL_AUTH_REQUIRED\`. Lists are separated by commas. \`PLIMSOLL_LISTEN\` is short for \`PLIMSOLL_SERVER_LISTEN\`; \`PLIMSOLL_DIR\` names the registry's folder. An empty variable empties a list or a text, or unsets an optional value.
- Every command takes \`--set KEY=VALUE\`, any number of times, such as \`--set auth.required=true\`; values are written as in the environment. \`serve\`, \`settings\` and \`build\` also have \`--base-url\` (\`registry.base_url\`), \`--api\` (\`registry.api\`) and \`--listen\` (\`server.listen\`), and \`init\` has the first two; what \`init\` is given goes into \`plimsoll.toml\`.
- Sizes are bytes or text such as \`"10MiB"\`, \`"512KiB"\`, \`"10MB"\`; durations are seconds or text such as \`"90d"\`, \`"12h"\`, \`"30m"\`, \`"10s"\`.
- The program refuses to start with an unknown key or a bad value. It names all of them at once, each with its place and what is accepted.
`

const toml = (text: string): SettingsInput => ({ file: { name: 'plimsoll.toml', text } })

const messages = (input: SettingsInput) => objectionsTo(() => resolveSettings(input))

test('the defaults are those of the private preset, each in its section', () => {
  const { settings } = resolveSettings({})
  const expected: Record<string, unknown> = { issuer: {}, oidc: {}, upstream: {}, webhook: {} }
  for (const { section, name, row } of settingTable.values()) {
    if (section === '') expected[name] = row.private
    else expected[section] = { ...(expected[section] as object), [name]: row.private }
  }
  assert.deepEqual(settings, expected)
})

test('file < environment < flags, and every origin is told', () => {
  const resolved = resolveSettings({
    file: {
      name: 'plimsoll.toml',
      text: '[registry]\nbase_url = "https://a.example/"\ntitle = "A"\n[server]\nlisten = "a:1"\n[policy]\npreset = "public"',
    },
    env: {
      PLIMSOLL_REGISTRY_BASE_URL: 'https://b.example',
      PLIMSOLL_LISTEN: 'b:2',
      PLIMSOLL_DIR: '/x',
      HOME: '/',
    },
    flags: { 'server.listen': '[::1]:0', 'registry.base_url': undefined },
  })
  assert.equal(resolved.settings.registry.base_url, 'https://b.example')
  assert.equal(resolved.settings.server.listen, '[::1]:0')
  const rows = new Map(
    describeSettings(resolved).map(row => [row.key, `${row.text} ← ${row.origin}`]),
  )
  assert.equal(rows.get('registry.title'), '"A" ← plimsoll.toml')
  assert.equal(rows.get('registry.base_url'), '"https://b.example" ← PLIMSOLL_REGISTRY_BASE_URL')
  assert.equal(rows.get('server.listen'), '"[::1]:0" ← --listen')
  assert.equal(rows.get('policy.license'), '"error" ← preset "public"')
  assert.equal(rows.get('limits.crate_bytes'), '"10MiB" ← default')
  assert.equal(rows.get('tls.cert'), ' ← default')
  assert.equal(rows.size, settingTable.size)
})

test('passwords of URLs are never told, neither of good values nor of bad ones', () => {
  const push = [
    ['https://ci:sesame@git.example/index.git', 'https://…@git.example/index.git'],
    ['https://sesame@git.example/index.git', 'https://…@git.example/index.git'],
    ['https://ci:ses@me@git.example:8443/index.git', 'https://…@git.example:8443/index.git'],
    ['https://ci:ses/ame@git.example/index.git', 'https://…@git.example/index.git'],
    ['https://git.example:8443/@team/index.git', 'https://git.example:8443/@team/index.git'],
    ['ssh://git:sesame@git.example/index.git', 'ssh://…@git.example/index.git'],
    ['ssh://git@git.example/index.git', 'ssh://git@git.example/index.git'],
    ['git@git.example:index.git', 'git@git.example:index.git'],
  ] as const
  const resolved = resolveSettings(
    toml(`[git]\npush = ${JSON.stringify(push.map(([address]) => address))}`),
  )
  assert.deepEqual(
    resolved.settings.git.push,
    push.map(([address]) => address),
  )
  const row = describeSettings(resolved).find(row => row.key === 'git.push')
  assert.deepEqual(
    row?.value,
    push.map(([, told]) => told),
  )
  assert.doesNotMatch(row?.text ?? 'none', /ses|ame@/)
  for (const bad of ['["https://ci:ses ame@git.example/"]', '"https://ci:sesame@git.example/"']) {
    assert.match(
      messages(toml(`[git]\npush = ${bad}`)).join(),
      /cannot be "https:\/\/…@git\.example\/"/,
    )
  }
})

const REG = 'https://crates.example/reg'
const API = 'http://api.example:8080'
const DL = 'file:///srv/{lowerprefix}/{crate}'
const ALIAS = 'sparse+http://a/index/'
const YANKED = ['rand@0.8.5', 'a-b@1.0.0-rc.1+x']

const good: [key: string, toml: string, env: string, value: unknown][] = [
  ['auth.required', 'true', 'true', true],
  ['limits.crate_bytes', '"20MiB"', '20MiB', 20_971_520],
  ['limits.crate_bytes', '20000', '20000', 20_000],
  ['limits.crate_bytes', '"10MB"', '10 MB', 10_000_000],
  ['limits.unpacked_bytes', '"1GiB"', '1GiB', 1_073_741_824],
  ['limits.metadata_bytes', '"512KiB"', '512KiB', 524_288],
  ['auth.session_seconds', '"90d"', '90d', 7_776_000],
  ['auth.session_seconds', '"12h"', '12h', 43_200],
  ['limits.request_seconds', '"30m"', '30m', 1800],
  ['server.shutdown_seconds', '"10s"', '10', 10],
  ['registry.base_url', '"https://Crates.example/reg//"', REG, REG],
  ['registry.api', '"none"', 'none', 'none'],
  ['registry.api', `"${API}/"`, API, API],
  ['registry.dl', '"https://dl.example"', 'https://dl.example', 'https://dl.example'],
  ['registry.dl', `"${DL}"`, DL, DL],
  ['registry.aliases', `["${ALIAS}"]`, `${ALIAS},`, [ALIAS]],
  ['registry.description', '""', '', ''],
  ['server.trusted_proxies', '["10.0.0.0/8", "::1"]', '10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
  ['policy.badges', '[]', '', []],
  ['yanked', JSON.stringify(YANKED), YANKED.join(), YANKED],
]
for (const [key, inFile, inEnv, value] of good) {
  test(`${key} = ${inFile}`, () => {
    const setting = settingTable.get(key)
    assert.ok(setting)
    const header = setting.section === '' ? '' : `[${setting.section}]\n`
    const read = (input: SettingsInput) =>
      describeSettings(resolveSettings(input)).find(row => row.key === key)?.value
    assert.deepEqual(read(toml(`${header}${setting.name} = ${inFile}`)), value)
    assert.deepEqual(read({ env: { [setting.variable]: inEnv } }), value)
  })
}

const bad: [key: string, toml: string, given: string][] = [
  ['auth.required', '"yes"', '"yes"'],
  ['auth.required', '1', '1'],
  ['limits.crate_bytes', '"10 miles"', '"10 miles"'],
  ['limits.crate_bytes', '12', '12'],
  ['limits.crate_bytes', '2048.5', '2048.5'],
  ['limits.crate_bytes', 'nan', 'NaN'],
  ['limits.archive_entries', '0', '0'],
  ['auth.session_seconds', '"1w"', '"1w"'],
  ['auth.session_seconds', '"4m"', '"4m"'],
  ['limits.metadata_bytes', '"1GiB"', '"1GiB"'],
  ['registry.base_url', '"crates.example"', '"crates.example"'],
  ['registry.base_url', '"ftp://crates.example"', '"ftp://crates.example"'],
  ['registry.base_url', '"https://crates.example?x"', '"https://crates.example?x"'],
  ['registry.base_url', '"https://crates.example#"', '"https://crates.example#"'],
  ['registry.base_url', '"https://me:pass word@crates.example"', '"https://…@crates.example"'],
  ['registry.base_url', '"https:crates.example"', '"https:crates.example"'],
  ['registry.base_url', '" https://crates.example"', '" https://crates.example"'],
  ['registry.base_url', '["https://crates.example"]', '["https://crates.example"]'],
  ['database.url', '"postgres://u@db/x?password=sesame"', '"postgres://…@db/x?password=…"'],
  ['registry.dl', '"/crates/{crate}"', '"/crates/{crate}"'],
  ['registry.dl', '"https://dl.example/{name}"', '"https://dl.example/{name}"'],
  ['registry.dl', '"https://dl.example/{crate"', '"https://dl.example/{crate"'],
  ['registry.dl', '"{crate}://dl.example/"', '"{crate}://dl.example/"'],
  ['registry.name', '"crates-io"', '"crates-io"'],
  ['registry.name', '"my registry"', '"my registry"'],
  ['registry.aliases', '["nowhere"]', '"nowhere"'],
  ['registry.title', '"a\\nb"', '"a\\nb"'],
  ['server.listen', '"unix:plimsoll.sock"', '"unix:plimsoll.sock"'],
  ['server.trusted_proxies', '["10.0.0.0/33"]', '"10.0.0.0/33"'],
  ['owners.add', '"Direct"', '"Direct"'],
  ['policy.license', 'false', 'false'],
  ['policy.name_max', '65', '65'],
  ['policy.categories', '["<b>"]', '"<b>"'],
  ['log.level', '{}', '{}'],
  ['log.level', '1979-05-27', '"1979-05-27"'],
  ['yanked', '["rand"]', '"rand"'],
  ['yanked', '["../x@1.0.0"]', '"../x@1.0.0"'],
  ['registry.title', `"${'x'.repeat(200)}"`, `"${'x'.repeat(78)}…`],
]
for (const [key, value, shown] of bad) {
  test(`refused: ${key} = ${value.slice(0, 60)}`, () => {
    const setting = settingTable.get(key)
    assert.ok(setting)
    const header = setting.section === '' ? '' : `[${setting.section}]\n`
    const { accepts } = setting.row.kind
    assert.deepEqual(messages(toml(`${header}${setting.name} = ${value}`)), [
      `plimsoll.toml: \`${key}\` cannot be ${shown}; accepted: ${accepts}`,
    ])
  })
}

test('an empty variable is no value for what cannot be empty', () => {
  assert.deepEqual(messages({ env: { PLIMSOLL_AUTH_REQUIRED: '' } }), [
    'PLIMSOLL_AUTH_REQUIRED: `auth.required` cannot be ""; accepted: true or false',
  ])
  assert.equal(
    resolveSettings({ env: { PLIMSOLL_REGISTRY_BASE_URL: '' } }).settings.registry.base_url,
    null,
  )
})

test('all objections come at once', () => {
  assert.deepEqual(
    messages({
      file: {
        name: 'plimsoll.toml',
        text: 'colour = 1\nlog = "info"\n[auth]\nrequird = true\n[sevrer]\nlisten = "x"\n[tls]\ncert = "c.pem"',
      },
      env: { PLIMSOLL_AUTH_REQUIERD: 'true', PLIMSOLL_FOO: '1' },
      flags: { 'owners.add': 'maybe' },
    }),
    [
      'plimsoll.toml: there is no setting `colour`; accepted: yanked, deprecated, [registry], [pages], [server], [storage], [database], [cdn], [downloads], [auth], [tls], [owners], [api], [limits], [policy], [advisories], [outgoing], [git], [log], [issuer.NAME], [oidc.NAME], [upstream.NAME], [webhook.NAME]',
      'plimsoll.toml: `log` cannot be "info"; accepted: a section [log]',
      'plimsoll.toml: there is no setting `auth.requird`; did you mean `auth.required`?',
      'plimsoll.toml: there is no setting `sevrer`; did you mean `server`?',
      'environment: there is no setting `PLIMSOLL_AUTH_REQUIERD`; did you mean `PLIMSOLL_AUTH_REQUIRED`?',
      'environment: there is no setting `PLIMSOLL_FOO`; accepted: PLIMSOLL_SECTION_KEY for every setting, PLIMSOLL_DIR, PLIMSOLL_LISTEN',
      '--set owners.add: `owners.add` cannot be "maybe"; accepted: "direct", "invite"',
      '`tls.cert` is set but `tls.key` is not; set both or neither',
    ],
  )
})

test('a key in the wrong place is told its section', () => {
  const [message = ''] = messages(toml('base_url = "https://x.example"'))
  assert.match(message, /no setting `base_url`; did you mean `registry\.base_url`\?/)
  const [other = ''] = messages(toml('[registry]\nlisten = "a:1"'))
  assert.match(other, /no setting `registry\.listen`; did you mean `server\.listen`\?/)
})

test('a syntax error names line and column', () => {
  assert.deepEqual(messages(toml('[auth]\nrequired = \n')), [
    'plimsoll.toml, line 2, column 12: this is not TOML: invalid value',
  ])
  assert.deepEqual(messages(toml('[auth]\n\n[auth]\nrequired = true\n')), [
    'plimsoll.toml, line 3, column 2: this is not TOML: the file has this table or key already, so change it there',
  ])
})

test('a byte order mark does no harm', () => {
  assert.equal(resolveSettings(toml('\uFEFF[auth]\nrequired = true')).settings.auth.required, true)
})

test('names of object properties are no settings', () => {
  for (const text of [
    '[__proto__]\nx = 1',
    '[auth]\n__proto__ = 1',
    'constructor = 1',
    '[auth]\ntoString = 1',
  ]) {
    assert.equal(messages(toml(text)).length, 1, text)
  }
  assert.equal(messages({ env: { PLIMSOLL___PROTO__: '1' } }).length, 1)
  assert.equal(({} as Record<string, unknown>).x, undefined)
})

test('two variables for one setting must agree', () => {
  const env = { PLIMSOLL_LISTEN: '127.0.0.1:1', PLIMSOLL_SERVER_LISTEN: '127.0.0.1:2' }
  assert.deepEqual(messages({ env }), [
    '`server.listen` is set differently by PLIMSOLL_LISTEN and by PLIMSOLL_SERVER_LISTEN; remove one of them',
  ])
  assert.deepEqual(messages({ env: { ...env, PLIMSOLL_SERVER_LISTEN: '127.0.0.1:1' } }), [])
})

test('an upstream has a section of its own, crates.io without any setting', () => {
  const { settings, values, origins } = resolveSettings({
    ...toml(
      '[upstream.crates-io]\n[upstream.mirror]\nindex = "sparse+https://m.example/i/"\nhold = "0"',
    ),
    env: { PLIMSOLL_UPSTREAM_CRATES_IO_HOLD: '7d', PLIMSOLL_UPSTREAM_MIRROR_ALLOW: 'a*,b@<2' },
    flags: { 'upstream.mirror.token_file': '/run/token' },
  })
  const lists = { allow: [], deny: [], deny_advisories: 'off', feed: '', storage: '' }
  const switches = { token_file: null, fallback: 'off', lure_guard: false, offline: false }
  const defaults = { ...lists, ...switches, fresh: 10, hold: 0 }
  assert.deepEqual(settings.upstream, {
    'crates-io': {
      ...defaults,
      name: 'crates-io',
      index: 'sparse+https://index.crates.io/',
      hold: 604_800,
      feed: 'https://static.crates.io/rss/crates.xml',
    },
    mirror: {
      ...defaults,
      name: 'mirror',
      index: 'sparse+https://m.example/i/',
      token_file: '/run/token',
      allow: ['a*', 'b@<2'],
    },
  })
  // With another index, that section is about another registry, which has no feed of crates.io.
  const copy = { PLIMSOLL_UPSTREAM_CRATES_IO_INDEX: 'sparse+https://m.example/i/' }
  const { settings: other } = resolveSettings({ ...toml(''), env: copy, flags: {} })
  assert.equal(other.upstream['crates-io']?.feed, '')
  const rows = describeSettings({ values, origins })
  assert.equal(rows.find(({ key }) => key === 'upstream.crates-io.hold')?.text, '"7d"')
  const text = renderSettingsFile(Object.fromEntries(values))
  assert.deepEqual(resolveSettings(toml(text)).settings.upstream, settings.upstream)
})

test('an issuer has a section of its own, two without any setting', () => {
  const { settings } = resolveSettings({
    ...toml('[issuer.github]\n[issuer.own-lab]\nissuer = "https://git.example/"\nkind = "gitlab"'),
    env: {
      PLIMSOLL_ISSUER_GITHUB_AUDIENCE: 'a.example,b.example',
      PLIMSOLL_ISSUER_OWN_LAB_SHARED: 'false',
      PLIMSOLL_ISSUER_OWN_LAB_JWKS_FILE: 'keys.json',
    },
    flags: {},
    resolvePath: path => `/reg/${path}`,
  })
  const defaults = { jwks_uri: '', jwks_file: '', ca_file: '', reuse: false, shared: 'auto' }
  assert.deepEqual(settings.issuer, {
    github: {
      ...{ ...defaults, name: 'github', kind: 'github', audience: ['a.example', 'b.example'] },
      issuer: 'https://token.actions.githubusercontent.com',
    },
    'own-lab': {
      ...{ ...defaults, name: 'own-lab', kind: 'gitlab', audience: [], shared: false },
      ...{ issuer: 'https://git.example/', jwks_file: '/reg/keys.json' },
    },
  })
})

test('what no issuer can be is refused by its key', () => {
  const section = (more: string) =>
    `[issuer.a]\nkind = "other"\nissuer = "https://ci.example"\n${more}`
  const rows: [string, RegExp][] = [
    ['[issuer.a]', /`issuer\.a\.issuer` is missing.*\n?.*`issuer\.a\.kind` is missing/s],
    ['[issuer.a]\nissuer = "http://ci.example"\nkind = "other"', /`issuer\.a\.issuer` cannot be/],
    [
      '[issuer.a]\nissuer = "https://ci.example?x"\nkind = "other"',
      /`issuer\.a\.issuer` cannot be/,
    ],
    [section('jwks_uri = "http://keys.example"'), /`issuer\.a\.jwks_uri` cannot be/],
    [section('reuse = true'), /`issuer\.a\.reuse` cannot be true/],
    [
      section('shared = "no"'),
      /`issuer\.a\.shared` cannot be "no"; accepted: "auto", true or false/,
    ],
    ['[issuer.github]\nshared = false', /`issuer\.github\.shared` cannot be false/],
    ['[issuer.github]\nreuse = true', /`issuer\.github\.reuse` cannot be true/],
    [section('[issuer.b]\nkind = "other"\nissuer = "https://ci.example"'), /are one issuer/],
    [section('color = 1'), /no setting `issuer\.a\.color`/],
  ]
  for (const [text, problem] of rows) assert.match(messages(toml(text)).join('\n'), problem, text)
  assert.deepEqual(messages(toml(section('shared = false\nreuse = true'))), [])
})

test('what no upstream can be is refused by its key', () => {
  const rows: [string, string][] = [
    [
      '[upstream.Mirror]',
      'plimsoll.toml: `upstream.Mirror` cannot be "Mirror"; accepted: lowercase letters, digits and "-", a letter first',
    ],
    ['upstream = 1', 'plimsoll.toml: `upstream` cannot be 1; accepted: a section [upstream.NAME]'],
    [
      '[upstream]\nm = 1',
      'plimsoll.toml: `upstream.m` cannot be 1; accepted: a section [upstream.m]',
    ],
    [
      '[upstream.m]\nfresh = 1',
      '`upstream.m.index` is missing: the sparse index of the upstream, such as "sparse+https://crates.example.com/index/"; only `crates-io` has a default',
    ],
    [
      '[upstream.crates-io]\nhold = "soon"',
      'plimsoll.toml: `upstream.crates-io.hold` cannot be "soon"; accepted: a number of seconds from 0 to 365d, such as 30, "10s", "30m", "12h" or "90d"',
    ],
    [
      '[upstream.crates-io]\ndeny = ["a@1 2"]',
      'plimsoll.toml: `upstream.crates-io.deny` cannot be "a@1 2"; accepted: a list, each item "name", "name@1.2.3", "name@<1.2.3" or "prefix*"',
    ],
    [
      '[upstream.crates-io]\nhold_days = 7',
      'plimsoll.toml: there is no setting `upstream.crates-io.hold_days`; accepted: index, token_file, fallback, fresh, hold, allow, deny, deny_advisories, lure_guard, offline, feed, storage',
    ],
    [
      '[upstream.crates-io]\nfallback = "serve"\n[upstream.m]\nfallback = "redirect"\nindex = "sparse+http://m/"',
      '`upstream.crates-io.fallback` and `upstream.m.fallback` are both on; only one upstream can answer for the names that are not here',
    ],
  ]
  for (const [text, message] of rows) assert.deepEqual(messages(toml(text)), [message])
})

test('every variable means one setting', () => {
  assert.equal(settingByVariable.size, settingTable.size + 1)
})

test('every default is a value that its setting accepts', () => {
  for (const setting of settingTable.values()) {
    for (const value of [setting.row.private, setting.row.public]) {
      if (value === null) continue
      const header = setting.section === '' ? '' : `[${setting.section}]\n`
      const described = describeSettings(
        resolveSettings(toml(`${header}${setting.name} = ${tomlValue(setting, value)}`)),
      )
      assert.deepEqual(described.find(row => row.key === setting.key)?.value, value, setting.key)
    }
  }
})

test('the listening address in parts', () => {
  const table: [string, ReturnType<typeof parseListen>][] = [
    ['8080', { host: '127.0.0.1', port: 8080 }],
    ['unix:/run/plimsoll.sock', { socket: '/run/plimsoll.sock' }],
    ['unix:plimsoll.sock', null],
    ['unix:/two words', null],
    ['65536', null],
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['localhost:1', { host: 'localhost', port: 1 }],
    ['localhost:65536', null],
    ['[::g]:80', null],
    ['::1:80', null],
    [':80', null],
    ['a:', null],
    [`${'a.'.repeat(50_000)}:x`, null],
  ]
  for (const [text, parts] of table) assert.deepEqual(parseListen(text), parts)
})

test('the settings file of a new registry', () => {
  const text = renderSettingsFile({
    'registry.base_url': 'https://crates.example.com',
    'policy.license': 'off',
  })
  assert.deepEqual(
    text.split('\n').filter(line => /^[^#]/.test(line)),
    [
      '[registry]',
      'base_url = "https://crates.example.com"',
      '[server]',
      '[auth]',
      '[limits]',
      '[policy]',
      'license = "off"',
    ],
  )
  assert.ok(text.includes('\n# listen = "127.0.0.1:8080"\n'))
  assert.ok(text.includes('\n# crate_bytes = "10MiB"\n'))
  const { origins } = resolveSettings(toml(text))
  assert.deepEqual(
    [...origins].filter(([, origin]) => typeof origin === 'object').map(([key]) => key),
    ['registry.base_url', 'policy.license'],
  )
  // Every commented line can be made active.
  assert.deepEqual(messages(toml(text.replace(/^# ([a-z_]+ = )/gm, '$1'))), [])
})

test('every kind of section with a name is read from the file, as from the environment', () => {
  const issuer = 'https://login.example'
  const least: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    issuer: { issuer, kind: 'other' },
    oidc: { issuer, client_id: 'plimsoll' },
    upstream: { index: 'sparse+https://mirror.example/index/' },
    webhook: { url: 'https://chat.example/hook', secret_file: 'secret' },
  }
  assert.deepEqual(Object.keys(least), Object.keys(namedRows))
  for (const [kind, rows] of Object.entries(least)) {
    const lines = Object.entries(rows).map(([key, value]) => `${key} = "${value}"`)
    const env = Object.entries(rows).map(([key, value]) => [
      `PLIMSOLL_${kind}_ONE_${key}`.toUpperCase(),
      value,
    ])
    const { settings } = resolveSettings(toml(`[${kind}.one]\n${lines.join('\n')}\n`))
    assert.deepEqual(settings, resolveSettings({ env: Object.fromEntries(env) }).settings)
  }
})

test('docs/run/settings.md is rendered from the rows, whole', () => {
  const file = join(root, 'docs', 'run', 'settings.md')
  const chapters = new Map<string, Setting[]>()
  for (const setting of [
    ...settingTable.values(),
    ...Object.keys(namedRows).flatMap(kind => namedSettings(`${kind}.NAME`)),
  ])
    chapters.set(setting.section, [...(chapters.get(setting.section) ?? []), setting])
  assert.deepEqual([...chapters.keys()], Object.keys(sectionTexts))
  const sections = [...chapters].map(([section, settings]) =>
    [
      section === '' ? '## Outside of any section' : `## [${section}]`,
      `\n${sectionTexts[section]}\n`,
      '| Key | Default | Accepted | Meaning |\n|---|---|---|---|',
      ...settings.map(described),
      '',
    ].join('\n'),
  )
  const text = [INTRODUCTION, ...sections].join('\n')
  if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(file, text)
  assert.equal(readFileSync(file, 'utf8'), text)
})

/** A setting as a row of the reference. */
function described(setting: Setting): string {
  const { key, row } = setting
  const shown = (value: SettingValue) => {
    const written = tomlValue(setting, value)
    return written === '' ? 'none' : `\`${written}\``
  }
  const also = row.private === row.public ? '' : `, public: ${shown(row.public)}`
  assert.match(row.meaning, /^[A-Z"`][^|\n]{9,}\.$/, key)
  return `| \`${key}\` | ${shown(row.private)}${also} | ${row.kind.accepts} | ${row.meaning} |`
}
