import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, gzipSync } from 'node:zlib'
import { Refusal } from '../../core/error/error.ts'
import { parseName } from '../../core/name.ts'
import { readText } from '../../core/tarball/recover.ts'
import { parseVersion } from '../../core/version.ts'
import {
  buildCrate,
  buildEvil,
  manifestOf,
  paxRecord,
  type RawMember,
  type Trick,
  tar,
} from '../support/crate-builder.ts'
import { LIMITS, opener, readArchive } from '../support/read-archive.ts'

const EVIL = { name: parseName('evil'), version: parseVersion('1.0.0') }

async function codes(work: Promise<unknown>): Promise<string[]> {
  try {
    await work
    return []
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.issues.map(issue => issue.code)
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
  const archives: Awaited<ReturnType<typeof readArchive>>[] = []
  for (const step of [1, 7, 512, 100_000])
    archives.push(await readArchive(opener(bytes, step), LIMITS))
  const [archive] = archives
  assert.ok(archive)
  for (const other of archives) assert.deepEqual(other, archive)
  assert.equal(archive.name, 'Good-crate')
  assert.equal(archive.version, '1.0.0-rc.1+b-2')
  assert.equal(archive.vcsPath, 'crates/good')
  assert.deepEqual(
    archive.files.map(file => file.path),
    ['Cargo.toml', 'src/lib.rs', 'README.md', '.cargo_vcs_info.json'],
  )
  assert.deepEqual(archive.warnings, [])
  assert.match(archive.manifest, /^\[package\]\nname = "Good-crate"/)
  const readme = 'README.md'
  assert.equal(await readText(opener(bytes), readme, 100, LIMITS), '# Good')
  assert.equal(await readText(opener(bytes), `Good-crate/${readme}`, 100, LIMITS), null)
  assert.equal(await readText(opener(bytes), readme, 3, LIMITS), null)
})

test('a folder whose name is no crate name breaks the rule for names, once', async () => {
  for (const [name, code] of [
    ['_demo', 'name_start'],
    ['dé', 'name_character'],
    ['a'.repeat(65), 'name_too_long'],
    ['', 'archive_root'],
  ] as const) {
    const members = ['Cargo.toml', 'src/lib.rs'].map(path => ({ path: `${name}-1.0.0/${path}` }))
    assert.deepEqual(await codes(readArchive(opener(gzipSync(tar(members))), LIMITS)), [code])
  }
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
  ['two extended headers', 'archive_header'],
  ['size before a long name', 'archive_header'],
  ['old long name', 'archive_header'],
  ['two NULs', 'archive_header'],
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
      assert.deepEqual(await codes(readArchive(opener(buildEvil(trick), step), LIMITS, EVIL)), [
        code,
      ])
    }
  })
}

/** The verdict of `readArchive` on raw members below `evil-1.0.0/`, next to a good manifest. */
async function verdict(
  members: readonly RawMember[],
): Promise<{ messages: string[]; files: string[]; warnings: string[] }> {
  const manifest = {
    path: 'evil-1.0.0/Cargo.toml',
    data: manifestOf({ name: 'evil', version: '1.0.0' }),
  }
  try {
    const archive = await readArchive(opener(gzipSync(tar([manifest, ...members]))), LIMITS, EVIL)
    const files = archive.files.map(file => file.path).filter(path => path !== 'Cargo.toml')
    return { messages: [], files, warnings: archive.warnings.map(issue => issue.code) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { messages: error.issues.map(issue => issue.message), files: [], warnings: [] }
  }
}

const at = (path: string, more: Partial<RawMember> = {}): RawMember => ({
  path: `evil-1.0.0/${path}`,
  ...more,
})

const FOLDER = { type: '5' }
const LONG = `${'d/'.repeat(60)}a.rs`
const pax = (key: string, value: string) => ({ path: 'x', type: 'x', data: paxRecord(key, value) })
const patched = (at: number, bytes: string | Uint8Array) => ({ patch: [{ at, bytes }] })
const atAll = (...paths: string[]) => paths.map(path => at(path))

/** Odd but harmless members, the files that are read of them, and the codes of warnings. */
const HARMLESS: [what: string, members: RawMember[], files: string[], ...warnings: string[]][] = [
  [
    'folders',
    [at('src/', FOLDER), at('src/a.rs'), at('', FOLDER), at('src', FOLDER)],
    ['src/a.rs'],
  ],
  ['a long name', [at(LONG)], [LONG]],
  ['a pax path', [pax('path', 'evil-1.0.0/ä.rs'), at('short')], ['ä.rs']],
  ['a pax size that agrees', [pax('size', '3'), at('a', { data: 'abc' })], ['a']],
  ['a ustar prefix', [{ path: 'a.rs', ...patched(345, 'evil-1.0.0/src') }], ['src/a.rs']],
  ['a header before ustar', [at('a.rs', patched(257, new Uint8Array(8)))], ['a.rs']],
  ['a header of GNU', [at('a.rs', patched(257, 'ustar  \0'))], ['a.rs']],
  [
    'a manifest deeper down',
    atAll('sub/cargo.toml', 'sub/Cargo.toml'),
    ['sub/cargo.toml', 'sub/Cargo.toml'],
    'archive_path_case',
  ],
  [
    'a mark that Cargo skips',
    atAll('.cargo-ok', 'x/.cargo-ok'),
    ['.cargo-ok', 'x/.cargo-ok'],
    ...['archive_cargo_ok', 'archive_cargo_ok'],
  ],
  [
    'paths that Windows lacks',
    atAll('a:b/c', 'nul.txt', 'end. ', 'con/x'),
    ['a:b/c', 'nul.txt', 'end. ', 'con/x'],
    ...Array(4).fill('archive_path_windows'),
  ],
  [
    'folders that differ by case',
    atAll('Src/a.rs', 'src/b.rs'),
    ['Src/a.rs', 'src/b.rs'],
    'archive_path_case',
  ],
  [
    'paths that are the same but for their normalization',
    atAll('caf\u00e9.rs', 'cafe\u0301.rs'),
    ['caf\u00e9.rs', 'cafe\u0301.rs'],
    'archive_path_normalized',
  ],
  [
    'paths that differ in both',
    atAll('Caf\u00e9.rs', 'cafe\u0301.rs'),
    ['Caf\u00e9.rs', 'cafe\u0301.rs'],
    'archive_path_case',
  ],
]

test('odd but harmless archives pass, some with a warning', async () => {
  for (const [what, members, files, ...warnings] of HARMLESS)
    assert.deepEqual(await verdict(members), { messages: [], files, warnings }, what)
})

test('sentences say what was wrong and where', async () => {
  const { messages } = await verdict([
    at('link', { type: '2', linkName: '/etc/passwd' }),
    at('../up'),
    { path: 'other-2.0.0/src/lib.rs' },
    at('CARGO.TOML'),
  ])
  assert.deepEqual(messages, [
    '`evil-1.0.0/link` in the crate file is a symbolic link; only regular files and folders are allowed',
    'the path `evil-1.0.0/../up` in the crate file is not allowed: it contains `..`',
    '`other-2.0.0/src/lib.rs` in the crate file is not below `evil-1.0.0/`; everything must be in that one folder',
    'the crate file has more than one manifest in its top folder (`Cargo.toml`, `CARGO.TOML`); keep `Cargo.toml` only',
  ])
})

test('a wrong top folder is one objection, however many files are in it, and names the first file', async () => {
  const files = Array.from({ length: 50 }, (_, i) => ({ path: `other-2.0.0/src/f${i}.rs` }))
  const folders = [
    { path: 'other-2.0.0/', type: '5' },
    { path: 'other-2.0.0/src/', type: '5' },
  ]
  const expected = [
    '`other-2.0.0/src/f0.rs` in the crate file is not below `evil-1.0.0/`; everything must be in that one folder',
  ]
  assert.deepEqual((await verdict(files)).messages, expected)
  assert.deepEqual((await verdict([...folders, ...files])).messages, expected)
  assert.deepEqual((await verdict([at('x'), { path: 'stray' }, { path: 'stray2' }])).messages, [
    '`stray` in the crate file is not below `evil-1.0.0/`; everything must be in that one folder',
  ])
})

test('objections end after twenty, and carry no control characters', async () => {
  const { messages } = await verdict(
    Array.from({ length: 500 }, (_, i) => at(`\u001b[31m\u202e${i}`, { type: '2' })),
  )
  assert.equal(messages.length, 20)
  assert.ok(messages.every(message => !/\p{Cc}|\p{Cf}/u.test(message)))
  const paths = await verdict(Array.from({ length: 500 }, (_, i) => at(`../${i}`)))
  assert.equal(paths.messages.length, 20)
})

test('warnings end after twenty, with the number of the others', async () => {
  const members = Array.from({ length: 500 }, (_, i) => at(`src/nul.${i}`))
  const { files, warnings } = await verdict(members)
  assert.equal(files.length, 500)
  assert.deepEqual(warnings, [...Array(20).fill('archive_path_windows'), 'archive_warnings_more'])
  const { messages } = await verdict([...members, at('../up'), at('link', { type: '2' })])
  assert.equal(messages.length, 2)
})

test('names that Cargo does not package, or Windows takes for others, are refused', async () => {
  const cases = [
    ...['<', '>', ':', '"', '|', '?', '*'].map(char => [
      `src/a${char}b`,
      `its name contains \`${char}\``,
    ]),
    ['Cargo.toml::$DATA', 'its name contains `:`'],
    ['src::$INDEX_ALLOCATION/lib.rs', 'it contains `:$`'],
  ] as const
  for (const [path, reason] of cases)
    assert.deepEqual((await verdict([at(path ?? '')])).messages, [
      `the path \`evil-1.0.0/${path}\` in the crate file is not allowed: ${reason}`,
    ])
})

test('a second manifest is one that Windows takes for `Cargo.toml`', async () => {
  for (const path of ['CARGO.TOML', 'Cargo.toml.', 'cargo.toml . ', 'CARGO~1.TOM'])
    assert.match(
      (await verdict([at(path)])).messages.join(),
      /more than one manifest in its top folder \(`Cargo\.toml`, `/,
      path,
    )
  assert.deepEqual((await verdict([at('Cargo.toml.orig'), at('a/Cargo.toml.')])).messages, [])
})

test('names and versions are told apart in the top folder', async () => {
  for (const [name, version] of [
    ['a', '0.0.0'],
    ['a-1', '1.0.0'],
    ['a-b_c-2', '1.0.0-1.0.0'],
    ['A1', '1.2.3+1-2.3-4'],
  ] as const) {
    const archive = await readArchive(opener(buildCrate({ name, version })), LIMITS)
    assert.deepEqual([archive.name, archive.version], [name, version])
  }
  for (const top of 'a a-1 a-1.0 1a-1.0.0 a-01.0.0 -1.0.0 a-v1.0.0 ä-1.0.0 . a.1.0.0'.split(' ')) {
    const bytes = gzipSync(tar([{ path: `${top}/Cargo.toml`, data: '' }]))
    assert.notEqual((await codes(readArchive(opener(bytes), LIMITS))).length, 0, top)
  }
})

test('two equal manifests, as Cargo packed them before 2016, are taken where that is allowed', async () => {
  const manifest = { path: 'evil-1.0.0/Cargo.toml', data: manifestOf(EVIL) }
  const twice = opener(gzipSync(tar([manifest, manifest])))
  const allowing = { ...LIMITS, duplicateManifest: true }
  assert.deepEqual(await codes(readArchive(twice, LIMITS, EVIL)), ['archive_manifest_twice'])
  const { files } = await readArchive(twice, allowing, EVIL)
  assert.deepEqual(
    files.map(file => file.path),
    ['Cargo.toml'],
  )
  const other = opener(gzipSync(tar([manifest, { ...manifest, data: `${manifest.data}#` }])))
  assert.deepEqual(await codes(readArchive(other, allowing, EVIL)), ['archive_path_twice'])
})

test('a bomb stops the stream near its limit, and the source is let go', async () => {
  const bomb = buildEvil('bomb')
  const bytes = Buffer.concat([bomb, Buffer.alloc(1 << 20)])
  let pulled = 0
  let closed = 0
  const source = () =>
    (async function* () {
      try {
        for (let i = 0; i < bytes.length; i += 1024) {
          pulled++
          yield bytes.subarray(i, i + 1024)
        }
      } finally {
        closed++
      }
    })()
  assert.deepEqual(await codes(readArchive(source, { ...LIMITS, unpackedBytes: 1 << 20 }, EVIL)), [
    'archive_too_large',
  ])
  // As much as a small archive has is read at once, also when it turns out to be a bomb.
  assert.ok(pulled < 128, `${pulled} of ${Math.ceil(bytes.length / 1024)} pieces`)
  assert.equal(closed, 1)
  assert.deepEqual(
    await codes(readArchive(opener(bomb), { ...LIMITS, unpackedBytes: 1 << 20 }, EVIL)),
    ['archive_too_large'],
  )
})

test('the source is let go whatever happens', async () => {
  const tricks: Trick[] = ['not gzip', 'symlink', 'damaged gzip', 'many files', 'truncated tar']
  for (const trick of tricks) {
    let closed = false
    const bytes = buildEvil(trick)
    const source = async function* () {
      try {
        for (let i = 0; i < 1000; i++) yield i === 0 ? bytes : new Uint8Array(1)
      } finally {
        closed = true
      }
    }
    assert.notEqual((await codes(readArchive(source, LIMITS, EVIL))).length, 0)
    assert.ok(closed, trick)
  }
})

test('a failing source is no objection to the crate', async () => {
  const source = async function* () {
    yield buildEvil('cargo-ok').subarray(0, 20)
    throw new Error('disk on fire')
  }
  await assert.rejects(readArchive(source, LIMITS), /^Error: disk on fire$/)
})

test('paths cannot multiply: folders that are only implied count', async () => {
  const members = Array.from({ length: 20 }, (_, i) => at(`${i}/${'a/'.repeat(60)}x`))
  const { messages } = await verdict(members)
  assert.deepEqual(messages, [
    'the crate file has more than 1000 files and folders (`limits.archive_entries`); leave some out with `package.exclude`',
  ])
})

test('gzip headers with all their fields are read; other framing is not', async () => {
  const plain = gzipSync(tar([{ path: 'evil-1.0.0/Cargo.toml', data: '' }]))
  const head = (flags: number, fields: string) => {
    const start = Buffer.from(plain.subarray(0, 10))
    start[3] = flags
    return Buffer.concat([start, Buffer.from(fields, 'latin1'), plain.subarray(10)])
  }
  const summed = (flags: number, fields: string, change = 0) => {
    const start = head(flags, fields).subarray(0, 10 + fields.length)
    const sum = Buffer.alloc(2)
    sum.writeUInt16LE((crc32(start) & 0xffff) ^ change)
    return head(flags, fields + sum.toString('latin1'))
  }
  const read = (bytes: Uint8Array, step: number) =>
    codes(readArchive(opener(bytes, step), LIMITS, EVIL))
  for (const step of [1, 3, 1000]) {
    assert.deepEqual(await read(head(0, ''), step), [])
    assert.deepEqual(await read(summed(31, '\x02\x00xxname\0comment\0'), step), [])
    assert.deepEqual(await read(summed(2, ''), step), [])
    assert.deepEqual(await read(summed(2, '', 1), step), ['archive_damaged'])
    assert.deepEqual(await read(head(8, `${'x'.repeat(65_525)}\0`), step), [])
    assert.deepEqual(await read(head(8, `${'x'.repeat(65_526)}\0`), step), ['archive_not_gzip'])
    assert.deepEqual(await read(head(8, 'x'.repeat(70_000)), step), ['archive_not_gzip'])
    assert.deepEqual(await read(head(0x20, ''), step), ['archive_not_gzip'])
    assert.deepEqual(await read(head(4, '\x00\xff'), step), ['archive_cut_off'])
    assert.deepEqual(await read(head(4, '\xff\xff'), step), ['archive_not_gzip'])
    assert.deepEqual(await read(new Uint8Array(0), step), ['archive_not_gzip'])
    assert.deepEqual(await read(plain.subarray(0, 5), step), ['archive_cut_off'])
    // An empty member in front: Cargo would see an empty archive, other readers a crate.
    assert.deepEqual(await read(Buffer.concat([gzipSync(''), plain]), step), [
      'archive_trailing_data',
    ])
    // Every single byte cut off or changed at the end is noticed.
    for (let cut = 1; cut <= 9; cut++)
      assert.notDeepEqual(await read(plain.subarray(0, -cut), step), [])
  }
  for (let i = 1; i <= 8; i++) {
    const changed = Buffer.from(plain)
    changed[changed.length - i] = (changed[changed.length - i] ?? 0) ^ 1
    assert.deepEqual(await read(changed, 1000), ['archive_damaged'])
  }
})

test('a manifest must be UTF-8 and of bounded size; a vcs info of any sort is borne', async () => {
  const crate = (files: Record<string, string | Uint8Array>) =>
    buildCrate({ name: 'evil', version: '1.0.0', files })
  const limits = { ...LIMITS, manifestBytes: 100 }
  assert.deepEqual(await codes(readArchive(opener(crate({})), limits)), ['archive_file_too_large'])
  const latin = gzipSync(tar([at('Cargo.toml', { data: Buffer.from('# \xe9', 'latin1') })]))
  assert.deepEqual(await codes(readArchive(opener(latin), LIMITS)), ['archive_file_encoding'])
  for (const info of [
    ...['', '{', 'null', '[]', '{"git":{}}', '{"path_in_vcs":1}', '{"path_in_vcs":"x\\ud800"}'],
    ...['{"path_in_vcs":"../x"}', '{"path_in_vcs":"/x"}'],
    'x'.repeat(20_000),
    new Uint8Array([0xff]),
  ]) {
    assert.equal(
      (await readArchive(opener(crate({ '.cargo_vcs_info.json': info })), LIMITS)).vcsPath,
      null,
    )
  }
  for (const path of ['', 'crates/a']) {
    const info = JSON.stringify({ git: { sha1: 'x' }, path_in_vcs: path })
    assert.equal(
      (await readArchive(opener(crate({ '.cargo_vcs_info.json': info })), LIMITS)).vcsPath,
      path,
    )
  }
})

test('a name in a path has up to 255 bytes', async () => {
  const verdictOf = (name: string) => verdict([at(`src/${name}`), at(`${name}/a`)])
  assert.deepEqual((await verdictOf('s'.repeat(255))).messages, [])
  assert.equal((await verdictOf('s'.repeat(256))).messages.length, 2)
  const [message] = (await verdictOf('ä'.repeat(128))).messages
  assert.match(message ?? '', /is not allowed: a name in it is longer than 255 bytes$/)
})

test('a path has up to 1,024 bytes, and the header of a long one up to 16 KiB', async () => {
  const path = (length: number) => `evil-1.0.0/${'d/'.repeat(length)}`.slice(0, length)
  const verdictOf = (length: number) => verdict([{ path: `${path(length - 1)}a` }])
  assert.deepEqual((await verdictOf(1024)).messages, [])
  assert.match((await verdictOf(1025)).messages.join(), /longer than 1024 bytes/)
  const comment = pax('comment', 'x'.repeat(17_000))
  assert.equal((await verdict([comment, at('a')])).messages.length, 1)
})
