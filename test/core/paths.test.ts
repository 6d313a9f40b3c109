import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../core/name.ts'
import { crateFilePath, crateKey } from '../../core/paths/crates.ts'
import { indexPath } from '../../core/paths/tree.ts'
import { expandDl } from '../../core/urls/download-url.ts'
import { registryUrls } from '../../core/urls/urls.ts'
import { parseVersion } from '../../core/version.ts'

const release = {
  name: parseName('Foo-Bar'),
  version: parseVersion('1.0.0+a'),
  cksum: 'ab'.repeat(32),
}

const templates: [template: string, url: string][] = [
  ['https://x/dl', 'https://x/dl/Foo-Bar/1.0.0+a/download'],
  ['https://x/{crate}', 'https://x/Foo-Bar'],
  ['https://x/{version}', 'https://x/1.0.0+a'],
  ['https://x/{prefix}/{crate}', 'https://x/Fo/o-/Foo-Bar'],
  ['https://x/{lowerprefix}/{crate}', 'https://x/fo/o-/Foo-Bar'],
  ['https://x/{sha256-checksum}', `https://x/${'ab'.repeat(32)}`],
  ['https://x/{crate}/{crate}', 'https://x/Foo-Bar/Foo-Bar'],
  ['https://x/{unknown}', 'https://x/{unknown}/Foo-Bar/1.0.0+a/download'],
]
for (const [template, url] of templates) {
  test(`dl ${template}`, () => assert.equal(expandDl(template, release), url))
}

for (const dl of ['https://x', 'https://x/', 'https://x/dl//']) {
  test(`Cargo and \`expandDl\` append to ${dl} alike, without an empty segment`, () => {
    const { dl: written } = registryUrls({ ...AUTO, dl }, 'https://x')
    const url = `${dl.replace(/\/+$/, '')}/Foo-Bar/1.0.0+a/download`
    assert.deepEqual(
      [`${written}/Foo-Bar/1.0.0+a/download`, expandDl(written, release)],
      [url, url],
    )
  })
}

const AUTO = { base_url: null, api: 'auto', dl: 'auto', aliases: [] }

test('the default template leads to the place of the .crate', () => {
  for (const name of ['a', 'Ab', 'aBc', 'Foo-Bar']) {
    for (const version of ['1.0.0', '0.1.0-rc.1+meta']) {
      const place = crateFilePath(parseName(name), parseVersion(version))
      const url = expandDl(registryUrls(AUTO, 'https://x/y').dl, {
        name: parseName(name),
        version: parseVersion(version),
        cksum: '',
      })
      assert.equal(url, `https://x/y/${place}`)
    }
  }
})

test('index files lie at lowercase tiers', () => {
  assert.equal(indexPath(parseName('A')), 'index/1/a')
  assert.equal(indexPath(parseName('aB')), 'index/2/ab')
  assert.equal(indexPath(parseName('ABC')), 'index/3/a/abc')
  assert.equal(indexPath(parseName('Cargo')), 'index/ca/rg/cargo')
})

test('keys of the crate store name the bytes', () => {
  assert.equal(crateKey(release.name, release.cksum), `fo/o-/foo-bar/${release.cksum}.crate`)
})
