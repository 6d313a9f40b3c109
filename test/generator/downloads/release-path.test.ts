import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registryUrls } from '../../../core/urls/urls.ts'
import { releaseFinder } from '../../../generator/downloads/release-path.ts'

function finder(base_url: string, dl = 'auto', below?: string) {
  return releaseFinder(registryUrls({ base_url, dl, api: 'auto', aliases: [] }, ''), below)
}

const DEMO = { name: 'demo', version: '1.0.0+b' }
const CKSUM = 'a'.repeat(64)

const CASES: readonly (readonly [
  base: string,
  dl: string,
  target: string,
  found: object | null,
])[] = [
  ['https://x.example', 'auto', '/crates/demo/demo-1.0.0+b.crate', DEMO],
  ['https://x.example', 'auto', 'https://x.example/crates/demo/demo-1.0.0+b.crate?y#z', DEMO],
  ['https://x.example', 'auto', '/crates/demo/demo-1.0.0%2Bb.crate', DEMO],
  ['https://x.example', 'auto', '/crates/demo/demo-1.0.0%252Bb.crate', DEMO],
  ['https://x.example', 'auto', '//api/v1/crates/demo/1.0.0+b/download', DEMO],
  ['https://x.example', 'auto', '/crates/demo/other-1.0.0.crate', null],
  ['https://x.example', 'auto', '/crates/demo/demo-1.0.crate', null],
  ['https://x.example', 'auto', '/crates/demo/%E0%A4%A', null],
  ['https://x.example', 'auto', '/crates/../crates/demo/demo-1.0.0+b.crate', null],
  ['https://x.example', 'auto', '/index/de/mo/demo', null],
  ['https://x.example', 'auto', '', null],
  ['https://x.example/cargo', 'auto', '/cargo/crates/demo/demo-1.0.0+b.crate', DEMO],
  ['https://x.example/cargo', 'auto', '/crates/demo/demo-1.0.0+b.crate', null],
  ['https://x.example', 'https://cdn.example/dl', '/dl/demo/1.0.0+b/download', DEMO],
  [
    'https://x.example',
    'https://cdn.example/{lowerprefix}/{crate}/{crate}-{version}.tar',
    '/de/mo/demo/demo-1.0.0+b.tar',
    DEMO,
  ],
  [
    'https://x.example',
    'https://cdn.example/{lowerprefix}/{crate}/{crate}-{version}.tar',
    '/de/mo/demo/another-1.0.0+b.tar',
    null,
  ],
  ['https://x.example', 'https://cdn.example/{sha256-checksum}', `/${CKSUM}`, { cksum: CKSUM }],
]
for (const [base, dl, target, found] of CASES)
  test(`${base} ${dl}: ${target}`, () => assert.deepEqual(finder(base, dl)(target), found))

test('logs may have the registry below another path', () => {
  const find = finder('https://x.example/cargo', 'auto', '/')
  assert.deepEqual(find('/crates/demo/demo-1.0.0+b.crate'), DEMO)
})

test('a long path takes time in proportion to its length', () => {
  const find = finder(
    'https://x.example',
    'https://cdn.example/{prefix}/{crate}/{crate}-{version}.x',
  )
  for (const part of ['/a', 'a', '-1', '%', '%25', '/'])
    assert.equal(find(`/${part.repeat(65_536 / part.length)}`), null)
})
