import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../generator/error.ts'
import { parseName } from '../../generator/name.ts'
import type { Archive, ArchiveLimits } from '../../generator/tarball.ts'
import { readArchive, readArchiveFile } from '../../generator/tarball.ts'
import { parseVersion } from '../../generator/version.ts'
import { buildCrate, buildEvil, type Trick } from '../support/crate-builder.ts'

const LIMITS: ArchiveLimits = {
  unpackedBytes: 4 * 1024 * 1024,
  entries: 1000,
  manifestBytes: 64 * 1024,
  readmeBytes: 64 * 1024,
}
const EVIL = { name: parseName('evil'), version: parseVersion('1.0.0') }

/** The bytes as a stream in pieces of `step`. */
function opener(bytes: Uint8Array, step = 1000): () => AsyncIterable<Uint8Array> {
  return async function* () {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
  }
}

async function codes(work: Promise<unknown>): Promise<string[]> {
  try {
    await work
    return []
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.issues.map(one => one.code)
  }
}

test('a good crate is read whole, however it is cut into pieces', async () => {
  const bytes = buildCrate({
    name: 'Good-crate',
    version: '1.0.0-rc.1+b-2',
    files: {
      'src/lib.rs': 'fn a() {}',
      'README.md': '# Good',
      '.cargo_vcs_info.json': '{"path_in_vcs":"crates/good"}',
    },
  })
  const archives: Archive[] = []
  for (const step of [1, 7, 512, 100_000]) archives.push(await readArchive(opener(bytes, step), LIMITS))
  const [archive] = archives
  assert.ok(archive)
  for (const other of archives) assert.deepEqual(other, archive)
  assert.equal(archive.name, 'Good-crate')
  assert.equal(archive.version, '1.0.0-rc.1+b-2')
  assert.equal(archive.vcsPath, 'crates/good')
  assert.deepEqual(
    archive.files.map(one => one.path),
    ['Cargo.toml', 'src/lib.rs', 'README.md', '.cargo_vcs_info.json'],
  )
  assert.deepEqual(archive.warnings, [])
  assert.match(archive.manifest, /^\[package\]\nname = "Good-crate"/)
  const readme = await readArchiveFile(opener(bytes), archive, 'README.md', 100)
  assert.equal(Buffer.from(readme ?? []).toString(), '# Good')
  assert.equal(await readArchiveFile(opener(bytes), archive, 'README', 100), null)
  assert.deepEqual(await codes(readArchiveFile(opener(bytes), archive, 'README.md', 3)), ['archive_file_too_large'])
})

const TRICKS: readonly (readonly [Trick, string])[] = [
  ['symlink', 'archive_type'],
  ['hard link', 'archive_type'],
  ['character device', 'archive_type'],
  ['block device', 'archive_type'],
  ['fifo', 'archive_type'],
  ['contiguous file', 'archive_type'],
  ['sparse file', 'archive_type'],
  ['unknown type', 'archive_type'],
  ['global header', 'archive_type'],
  ['parent path', 'archive_path'],
  ['absolute path', 'archive_path'],
  ['backslash path', 'archive_path'],
  ['nul path', 'archive_header'],
  ['dot path', 'archive_path'],
  ['not UTF-8 path', 'archive_path_encoding'],
  ['wrong top folder', 'archive_root'],
  ['two top folders', 'archive_root'],
  ['no manifest', 'archive_manifest_missing'],
  ['lower-case manifest', 'archive_manifest_case'],
  ['two manifests', 'archive_manifests'],
  ['same path twice', 'archive_path_twice'],
  ['file and folder', 'archive_path'],
  ['pax size lie', 'archive_header'],
  ['pax path twice', 'archive_header'],
  ['pax sparse', 'archive_type'],
  ['two long names', 'archive_header'],
  ['name after NUL', 'archive_header'],
  ['wrong checksum', 'archive_header'],
  ['folder with data', 'archive_header'],
  ['bomb', 'archive_too_large'],
  ['many files', 'archive_too_many_entries'],
  ['truncated gzip', 'archive_cut_off'],
  ['truncated tar', 'archive_cut_off'],
  ['damaged gzip', 'archive_damaged'],
  ['data after tar', 'archive_trailing_data'],
  ['data after gzip', 'archive_trailing_data'],
  ['second gzip member', 'archive_trailing_data'],
  ['not gzip', 'archive_not_gzip'],
]

for (const [trick, code] of TRICKS) {
  test(`refused: ${trick}`, async () => {
    for (const step of [37, 4096, 1 << 20]) {
      assert.deepEqual(await codes(readArchive(opener(buildEvil(trick), step), LIMITS, EVIL)), [code])
    }
  })
}
