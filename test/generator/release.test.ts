import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { renderEntry } from '../../generator/entry.ts'
import { parseManifest } from '../../generator/manifest.ts'
import type { PublishMetadata, Release, ReleaseParts } from '../../generator/release.ts'
import { makeRelease, publishMetadata } from '../../generator/release.ts'
import { readArchive } from '../../generator/tarball.ts'
import { buildCrate, type CrateParts } from '../support/crate-builder.ts'

const LIMITS = { unpackedBytes: 1 << 20, entries: 100, manifestBytes: 1 << 16, readmeBytes: 1 << 16 }
const OWN = 'sparse+https://crates.example/index/'
const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'
const CKSUM = 'ab'.repeat(32)

/** The release that a crate of these parts becomes. */
async function releaseOf(crate: Partial<CrateParts>, more: Partial<ReleaseParts> = {}): Promise<Release> {
  const bytes = buildCrate({ name: 'demo', version: '1.0.0', ...crate })
  const archive = await readArchive(async function* () {
    yield bytes
  }, LIMITS)
  const manifest = parseManifest(archive.manifest)
  const ownIndexUrls = new Set([OWN])
  const facts = { cksum: CKSUM, size: bytes.length, pubtime: '2026-11-20T12:00:00Z', readme: null }
  return makeRelease({ archive, manifest, ownIndexUrls, ...facts, ...more })
}

function _metadata(input: object): PublishMetadata {
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
