import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePublished } from '../../../core/entry/parse.ts'
import type { Refusal } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { readPublished } from '../../../core/release/published.ts'
import type { Version } from '../../../core/version.ts'
import { buildCrate, buildEvil, type Trick } from '../../support/crate-builder.ts'
import { LIMITS, opener } from '../../support/read-archive.ts'

const EVIL = { name: 'evil' as Name, version: '1.0.0' as Version }

/** What `cargo metadata` of Cargo 1.95 made of each, in a local registry; empty where it worked. */
const TRICKS: Partial<Record<Trick, string>> = {
  'same path twice': '',
  'two manifests': '',
  'cargo-ok': '',
  'damaged gzip': '',
  'data after tar': '',
  'data after gzip': '',
  'second gzip member': '',
  symlink: '',
  'character device': '',
  fifo: '',
  'contiguous file': '',
  'unknown type': '',
  'parent path': '',
  'backslash path': '',
  'nul path': '',
  'dot path': '',
  'not UTF-8 path': '',
  'pax size lie': '',
  'pax path twice': '',
  'pax sparse': '',
  'two extended headers': '',
  'size before a long name': '',
  'name after NUL': '',
  'folder with data': '',
  'many files': '',
  'truncated gzip': 'archive_cut_off',
  'truncated tar': 'archive_cut_off',
  'not gzip': 'archive_not_gzip',
  'global header': 'archive_root',
  'absolute path': 'archive_root',
  'wrong top folder': 'archive_root',
  'two top folders': 'archive_root',
  'old long name': 'archive_root',
  'no manifest': 'archive_manifest_missing',
  'lower-case manifest': 'archive_manifest_missing',
  'file and folder': 'archive_path',
  'two NULs': 'archive_path',
  'wrong checksum': 'archive_header',
}

async function fault(bytes: Uint8Array): Promise<string> {
  return readPublished(opener(bytes), EVIL, bytes.length, LIMITS).then(
    () => '',
    ({ issues }: Refusal) => issues[0].code,
  )
}

test('a published .crate is refused only where Cargo cannot use it', async () => {
  const licenses: Partial<Record<string, string>> = {}
  for (const trick of Object.keys(TRICKS) as Trick[])
    licenses[trick] = await fault(buildEvil(trick))
  assert.deepEqual(licenses, TRICKS)
})

const PACKAGE = '[package]\nname = "evil"\nversion = "1.0.0"\n'
const MANIFESTS: [manifest: string, code: string][] = [
  [PACKAGE.replace('package', 'project'), ''],
  [`${PACKAGE}[patch.crates-io]\nfoo = { path = "x" }\n`, ''],
  [`${PACKAGE}description = "\\u0000"\n`, ''],
  [`${PACKAGE}[package.metadata]\na = { b = 1,\n c = 2, }\n`, ''],
  [`${PACKAGE}name = "evil"\n`, 'manifest_toml'],
  ['[project]\nversion = "1.0.0"\n', 'manifest_key_missing'],
  [PACKAGE.replace('evil', 'other'), 'import_identity'],
  [PACKAGE.replace('evil', 'no name'), 'name_character'],
  [PACKAGE.replace('1.0.0', '1.0.0+b'), 'import_identity'],
]

test('a manifest is refused only where Cargo cannot read it, or finds another crate', async () => {
  for (const [manifest, code] of MANIFESTS)
    assert.equal(await fault(buildCrate({ ...EVIL, manifest })), code, manifest)
})

test('a line is refused if its features name nothing, and only then', () => {
  const line = (features: object) => {
    const dep = { name: 'x', req: '^1', optional: true, kind: 'normal' }
    const fields = { name: 'evil', vers: '1.0.0', deps: [dep], cksum: 'ab'.repeat(32) }
    return JSON.stringify({ ...fields, features })
  }
  for (const value of ['x', 'x/', 'x/a b', 'x?/y', 'x/dep:y'])
    assert.equal(parsePublished(line({ a: [value] })).features.a?.[0], value)
  for (const features of [{ a: ['other'] }, { a: ['y/z'] }, { a: ['x/y/z'] }, { 'a b': [] }])
    assert.throws(() => parsePublished(line(features)), /feature/)
})
