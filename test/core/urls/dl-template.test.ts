import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Name } from '../../../core/name.ts'
import { type DlRelease, ownDl } from '../../../core/urls/dl-template.ts'
import type { Version } from '../../../core/version.ts'

const BASE = 'https://x.example/cargo'
const CKSUM = 'ab'.repeat(32)

function release(name: string, version = '1.0.0-rc.1+b-2', cksum = CKSUM): DlRelease {
  return { name: name as Name, version: version as Version, cksum }
}

function own(template: string, base = BASE) {
  return ownDl({ base, dl: `${BASE}${template}` })
}

const NAMES = ['a', 'ab', 'abc', 'Serde-1', 'a-1-2', 'x_y', 'MiXed', 'a3cd']
const VERSIONS = ['1.0.0', '11.0.0', '1.0.0-rc-1', '1.0.0-a.b+c-d', '0.0.1+x']

const ANSWERED = [
  ...['/files/{prefix}/{crate}-{version}.crate', '/{lowerprefix}/{crate}/{version}'],
  ...['/{lowerprefix}/{lowerprefix}/{crate}/{version}/{crate}-{version}.tar.gz', '', '/dl'],
  ...['/dl/{crate}/{version}', '/{crate}-{version}.crate', '/blobs/{sha256-checksum}'],
  ...['/{lowerprefix}/{sha256-checksum}-{crate}-{version}', '/d/{version}_{crate}'],
  ...['/d/{crate}.{version}', '/crates/{crate}/{crate}-{version}.crate', '/crates'],
  ...['/api/v1/crates', '/d/{crate}-0{version}', '/d/{prefix}{crate}-{version}'],
  ...['/d/{crate}{prefix}/{version}', '/d/{crate}/{version}{prefix}'],
]
for (const template of ANSWERED)
  test(`is answered, and tells releases apart: ${template}`, () => {
    const dl = own(template)
    assert.equal(dl?.fault, null)
    const seen = new Set<string>()
    for (const name of NAMES)
      for (const [at, version] of VERSIONS.entries()) {
        const sample = release(name, version, `${at}${NAMES.indexOf(name)}`.repeat(32))
        const path = dl?.pathOf(sample) ?? ''
        assert.ok(!path.startsWith('/') && !seen.has(path), path)
        seen.add(path)
        const parsed = dl?.find(path)
        for (const part of ['name', 'version', 'cksum'] as const)
          assert.ok([null, sample[part]].includes(parsed?.[part] ?? null), path)
        assert.ok(parsed?.cksum || (parsed?.name && parsed.version), path)
      }
  })

const REFUSED: readonly (readonly [template: string, because: RegExp])[] = [
  ['/{crate}', /two releases/],
  ['/{version}', /two releases/],
  ['/{prefix}/{version}', /two releases/],
  ['/d/{crate}{version}', /two releases/],
  ['/d/{version}-{crate}', /two releases/],
  ['/d/{version}{sha256-checksum}{crate}', /two releases/],
  ['/d/{version}{prefix}{crate}', /two releases/],
  ['/crates/{crate}/{version}', /belong to the registry/],
  ['/crates/{crate}/{version}/index.html', /belong to the registry/],
  ['/{crate}/{crate}/{version}', /belong to the registry/],
  ['/index/{lowerprefix}/{crate}/{version}', /belong to the registry/],
  ['/me/{crate}/{version}', /belong to the registry/],
  ['/api/v1/crates/{crate}/{version}', /belong to the registry/],
  ['/assets/{sha256-checksum}', /belong to the registry/],
  ['/index.git/{crate}/{version}', /belong to the registry/],
  ['/get?c={crate}&v={version}', /query/],
  ['/d/{crate}/#{version}', /fragment/],
  ['/d/{crate}/{version}/', /ends with a slash/],
  ['/.d/{crate}/{version}', /begins with a dot/],
  ['/a%2fb/{crate}/{version}', /contains/],
]
for (const [template, because] of REFUSED)
  test(`is refused: ${template}`, () => assert.match(own(template)?.fault ?? '', because))

test('a path is of the template only with the right prefix, name, version and case', () => {
  const dl = own('/{lowerprefix}/{crate}/{crate}-{version}.crate')
  assert.deepEqual(dl?.find('se/rd/Serde/Serde-1.0.0.crate'), {
    name: 'Serde',
    version: '1.0.0',
    cksum: null,
  })
  for (const path of [
    'Se/rd/Serde/Serde-1.0.0.crate',
    'se/rx/Serde/Serde-1.0.0.crate',
    '3/s/Serde/Serde-1.0.0.crate',
    'se/rd/Serde/serde-1.0.0.crate',
    'se/rd/Serde/Serde-1.0.crate',
    'se/rd/Serde/Serde-01.0.0.crate',
    'se/rd/Serde/Serde-1.0.0.crate/',
    'x/se/rd/Serde/Serde-1.0.0.crate',
    `se/rd/Serde/Serde-${'1'.repeat(21)}.0.0.crate`,
    '__proto__',
    '',
  ])
    assert.equal(dl?.find(path), null, path)
})

test("another host, port or path is nobody's of ours; the same address may be spelled otherwise", () => {
  for (const dl of [
    'https://y.example/cargo/{crate}/{version}',
    'https://x.example:8443/cargo/{crate}/{version}',
    'http://x.example/cargo/{crate}/{version}',
    'https://x.example/cargoes/{crate}/{version}',
    'https://{crate}.x.example/cargo/{version}',
    'file:///cargo/{crate}/{version}',
  ])
    assert.equal(ownDl({ base: BASE, dl }), null, dl)
  const dl = 'https://X.example:443/cargo/d/{crate}/{version}'
  assert.equal(ownDl({ base: BASE, dl })?.template, 'd/{crate}/{version}')
})
