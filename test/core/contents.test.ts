// Mirrors core/tarball/contents.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readFiles, recoverArchive } from '../../core/tarball/recover.ts'
import { buildCrate, tar } from '../support/crate-builder.ts'
import { LIMITS, opener, readArchive } from '../support/read-archive.ts'

const FILES = {
  'src/lib.rs': '//! Doc\n\n  // note\n\tpub fn a() {} // end\n/\n\r\n/* block */\nlast',
  'src/empty.rs': '',
  'src/not-rust.txt': 'text\ntext\n',
  'LICENSE-MIT': 'MIT',
  'LICENSE-APACHE': 'Apache',
  'license.rs': 'fn x() {}\n',
  COPYING: new Uint8Array([0xff, 0xfe]),
  'docs/LICENSE': 'not in the top folder',
  UNLICENSE: 'x'.repeat(64 * 1024 + 1),
  'MIT-LICENSE.txt': 'MIT',
}

test('files, bytes, lines of Rust and license texts are counted', async () => {
  const bytes = buildCrate({ name: 'counted', version: '1.0.0', files: FILES })
  const all = Object.values(FILES).reduce((sum, file) => sum + file.length, 0)
  for (const step of [1, 3, 512, 100_000]) {
    const open = opener(bytes, step)
    const { contents, files } = await readArchive(open, LIMITS)
    const manifest = files.find(file => file.path === 'Cargo.toml')?.size ?? 0
    assert.deepEqual(contents, {
      files: 11,
      bytes: all + manifest,
      rust: { files: 3, code_lines: 5, comment_lines: 2 },
      licenses: ['LICENSE-APACHE', 'LICENSE-MIT', 'MIT-LICENSE.txt'],
    })
    assert.deepEqual((await recoverArchive(open, 'counted-1.0.0', LIMITS)).contents, contents)
  }
})

test('what is beyond the limit of unpacked bytes is not counted', async () => {
  const files = { 'src/lib.rs': 'x\n'.repeat(600_000), 'src/more.rs': 'fn x() {}\n' }
  const bytes = buildCrate({ name: 'large', version: '1.0.0', files })
  const limits = { ...LIMITS, unpackedBytes: 1024 * 1024 }
  const { contents } = await recoverArchive(opener(bytes), 'large-1.0.0', limits)
  assert.equal(contents.rust.files, 1)
})

test('of several files with one path, the last counts, as in Cargo', async () => {
  const files = [
    ['Cargo.toml', '[package]'],
    ['src/lib.rs', 'fn a() {}\nfn b() {}\n'],
    ['LICENSE', 'MIT'],
    ['a.png', 'first'],
    ['src/lib.rs', '// c\n'],
    ['LICENSE', new Uint8Array([0xff])],
    ['./a.png', 'last one'],
  ] as const
  const bytes = gzipSync(tar(files.map(([path, data]) => ({ path: `d-1.0.0/${path}`, data }))))
  const { contents } = await recoverArchive(opener(bytes), 'd-1.0.0', LIMITS)
  assert.deepEqual(contents, {
    files: 4,
    bytes: 9 + 5 + 1 + 8,
    rust: { files: 1, code_lines: 0, comment_lines: 1 },
    licenses: [],
  })
  const wanted = new Set(['a.png'])
  const limits = { fileBytes: 8, bytes: 8, unpackedBytes: LIMITS.unpackedBytes }
  const read = async (fileBytes: number) =>
    String(
      Buffer.from(
        (await readFiles(opener(bytes), wanted, { ...limits, fileBytes })).get('a.png') ?? '',
      ),
    )
  assert.equal(await read(8), 'last one')
  // One that is too large is not shown as it was before.
  assert.equal(await read(7), '')
})
