import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registryUrls } from '../../../core/urls/urls.ts'
import { releaseFinder } from '../../../generator/downloads/release-path.ts'

function finder(dl = 'auto', base_url = BASE, below?: string) {
  return releaseFinder(registryUrls({ base_url, dl, api: 'auto', aliases: [] }, ''), below)
}

const BASE = 'https://x.example'
const BELOW = `${BASE}/cargo`
const TAR = 'https://cdn.example/{lowerprefix}/{crate}/{crate}-{version}.tar'
const DEMO = { name: 'demo', version: '1.0.0+b' }
const CKSUM = 'a'.repeat(64)

const CASES: [target: string, found: object | null, dl?: string, base?: string][] = [
  ['/crates/demo/demo-1.0.0+b.crate', DEMO],
  ['https://x.example/crates/demo/demo-1.0.0+b.crate?y#z', DEMO],
  ['/crates/demo/demo-1.0.0%2Bb.crate', DEMO],
  ['/crates/demo/demo-1.0.0%252Bb.crate', DEMO],
  ['//api/v1/crates/demo/1.0.0+b/download', DEMO],
  ['/crates/demo/other-1.0.0.crate', null],
  ['/crates/demo/demo-1.0.crate', null],
  ['/crates/demo/%E0%A4%A', null],
  ['/crates/../crates/demo/demo-1.0.0+b.crate', null],
  ['/index/de/mo/demo', null],
  ['', null],
  ['/cargo/crates/demo/demo-1.0.0+b.crate', DEMO, 'auto', BELOW],
  ['/crates/demo/demo-1.0.0+b.crate', null, 'auto', BELOW],
  ['/dl/demo/1.0.0+b/download', DEMO, 'https://cdn.example/dl'],
  ['/de/mo/demo/demo-1.0.0+b.tar', DEMO, TAR],
  ['/de/mo/demo/another-1.0.0+b.tar', null, TAR],
  [`/${CKSUM}`, { cksum: CKSUM }, 'https://cdn.example/{sha256-checksum}'],
]
for (const [target, expected, dl, base] of CASES)
  test(`${base ?? BASE} ${dl ?? 'auto'}: ${target}`, () =>
    assert.deepEqual(finder(dl, base)(target), expected))

test('logs may have the registry below another path', () => {
  const find = finder('auto', BELOW, '/')
  assert.deepEqual(find('/crates/demo/demo-1.0.0+b.crate'), DEMO)
})

test('a long path takes time in proportion to its length', () => {
  const find = finder('https://cdn.example/{prefix}/{crate}/{crate}-{version}.x')
  for (const part of ['/a', 'a', '-1', '%', '%25', '/'])
    assert.equal(find(`/${part.repeat(65_536 / part.length)}`), null)
})
