import { gzipSync } from 'node:zlib'

/** A member of a tar archive, every byte of its header open to lies. */
export interface RawMember {
  /** Path as it stands in the header: with the top folder. */
  readonly path: string
  readonly data?: string | Uint8Array
  /** Type flag; `0` is a regular file, `5` a folder. */
  readonly type?: string
  /** Size in the header, when it differs from the size of `data`. */
  readonly size?: number
  readonly linkName?: string
  /**
   * Raw bytes laid over the finished header, by offset; the checksum is made afterwards unless
   * `checksum` is given.
   */
  readonly patch?: readonly { readonly at: number; readonly bytes: string | Uint8Array }[]
  readonly checksum?: number
}

export interface CrateParts {
  readonly name: string
  readonly version: string
  /** TOML added to a minimal manifest; replaces it if it has its own `[package]` or `[project]`. */
  readonly manifest?: string
  /** More files, by path below the top folder; without any, there is an empty `src/lib.rs`. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
}

/** The bytes of a good `.crate`, the same for the same parts. */
export function buildCrate(parts: CrateParts): Uint8Array {
  const top = `${parts.name}-${parts.version}`
  const files = Object.entries({
    'Cargo.toml': manifestOf(parts),
    ...(parts.files ?? { 'src/lib.rs': '' }),
  })
  return gzipSync(tar(files.map(([path, data]) => ({ path: `${top}/${path}`, data }))))
}

/** The `Cargo.toml` that `buildCrate` puts into the crate. */
export function manifestOf({ name, version, manifest = '' }: CrateParts): string {
  if (/^\s*\[(?:package|project)\]/m.test(manifest)) return manifest
  const lines = [
    '[package]',
    `name = "${name}"`,
    `version = "${version}"`,
    'edition = "2021"',
    'description = "A crate for tests"',
    'license = "MIT"',
  ]
  // TOML that begins with a key belongs to `[package]`.
  return `${lines.join('\n')}\n${manifest}\n`
}

/** Tricks with the stream of a good `.crate` as a whole. */
const STREAMS = {
  'truncated gzip': (good: Buffer) => gzipSync(good).subarray(0, -12),
  'truncated tar': (good: Buffer) => gzipSync(good.subarray(0, 700)),
  'damaged gzip': (good: Buffer) => {
    const zipped = gzipSync(good)
    return Buffer.concat([zipped.subarray(0, -8), Buffer.from([1, 2, 3, 4]), zipped.subarray(-4)])
  },
  'data after tar': (good: Buffer) =>
    gzipSync(Buffer.concat([good, tar([{ path: 'evil-1.0.0/late.rs', data: 'x' }])])),
  'data after gzip': (good: Buffer) => Buffer.concat([gzipSync(good), Buffer.from('and more')]),
  'second gzip member': (good: Buffer) => Buffer.concat([gzipSync(good), gzipSync(good)]),
  'not gzip': () => Buffer.from('<html>not a crate</html>'),
}

type StreamTrick = keyof typeof STREAMS

/**
 * The tricks that a hostile or broken `.crate` may try; each is a good crate with one thing wrong.
 */
export type Trick = StreamTrick | keyof ReturnType<typeof evilMembers>

/** The bytes of an evil `.crate`, `evil 1.0.0` by default. */
export function buildEvil(trick: Trick, { name = 'evil', version = '1.0.0' } = {}): Uint8Array {
  const top = `${name}-${version}`
  const manifest = { path: `${top}/Cargo.toml`, data: manifestOf({ name, version }) }
  const library = { path: `${top}/src/lib.rs`, data: '' }
  if (isOfStream(trick)) return STREAMS[trick](tar([manifest, library]))
  const before = WITHOUT_MANIFEST.has(trick) ? [library] : [manifest, library]
  return gzipSync(tar([...before, ...evilMembers(top)[trick]]))
}

function isOfStream(trick: Trick): trick is StreamTrick {
  return trick in STREAMS
}

const WITHOUT_MANIFEST: ReadonlySet<Trick> = new Set([
  'no manifest',
  'lower-case manifest',
  'wrong top folder',
])

/** The members that a trick adds to a good crate. */
function evilMembers(top: string) {
  const at = (path: string) => `${top}/${path}`
  const typed = (type: string): RawMember[] => [{ path: at('odd'), type, linkName: '/etc/passwd' }]
  const file = (path: string): RawMember[] => [{ path, data: 'x' }]
  return {
    symlink: typed('2'),
    'hard link': typed('1'),
    'character device': typed('3'),
    'block device': typed('4'),
    fifo: typed('6'),
    'contiguous file': typed('7'),
    'sparse file': typed('S'),
    'unknown type': typed('Z'),
    'global header': [{ path: 'pax_global_header', type: 'g', data: paxRecord('comment', 'x') }],
    'parent path': file(at('../outside.rs')),
    'absolute path': file('/etc/cron.d/evil'),
    'backslash path': file(at('..\\outside.rs')),
    'nul path': [
      { path: '././@LongLink', type: 'L', data: `${at('a.rs')}\0/../b.rs\0` },
      ...file(at('a.rs')),
    ],
    'dot path': file(at('./src/other.rs')),
    'not UTF-8 path': [
      { path: at('x'), patch: [{ at: 0, bytes: Buffer.from(`${top}/\xff\xfe`, 'latin1') }] },
    ],
    'wrong top folder': [{ path: 'other-1.0.0/Cargo.toml', data: '' }],
    'two top folders': file('other-1.0.0/src/lib.rs'),
    'no manifest': [],
    'lower-case manifest': [{ path: at('cargo.toml'), data: '[package]\n' }],
    'two manifests': [{ path: at('CARGO.toml'), data: '[package]\n' }],
    'same path twice': [...file(at('src/twice.rs')), ...file(at('src/twice.rs'))],
    'file and folder': file(at('src/lib.rs/inner.rs')),
    'pax size lie': [{ path: 'pax', type: 'x', data: paxRecord('size', '9') }, ...file(at('a.rs'))],
    'pax path twice': [
      {
        path: 'pax',
        type: 'x',
        data: paxRecord('path', at('a.rs')) + paxRecord('path', at('b.rs')),
      },
      ...file(at('a.rs')),
    ],
    'pax sparse': [
      { path: 'pax', type: 'x', data: paxRecord('GNU.sparse.name', at('b.rs')) },
      ...file(at('a.rs')),
    ],
    'two extended headers': [
      { path: '././@LongLink', type: 'L', data: `${at('b.rs')}\0` },
      { path: 'pax', type: 'x', data: paxRecord('path', at('a.rs')) },
      ...file(at('a.rs')),
    ],
    'size before a long name': [
      { path: 'pax', type: 'x', data: paxRecord('size', '512') },
      { path: '././@LongLink', type: 'L', data: hidingName(top) },
      { path: at('short'), data: new Uint8Array(512) },
    ],
    'old long name': [
      {
        path: 'long',
        type: 'L',
        data: `${at('docs/a.rs')}\0`,
        patch: [{ at: 257, bytes: new Uint8Array(8) }],
      },
      ...file(at('a.rs')),
    ],
    'two NULs': [
      { path: '././@LongLink', type: 'L', data: `${at('a.rs')}\0\0` },
      ...file(at('a.rs')),
    ],
    'name after NUL': [{ path: at('a.rs'), data: 'x', patch: [{ at: 90, bytes: '/../b' }] }],
    'wrong checksum': [{ path: at('a.rs'), data: 'x', checksum: 1 }],
    'folder with data': [{ path: at('folder/'), type: '5', data: 'x' }],
    bomb: [{ path: at('bomb'), data: new Uint8Array(64 * 1024 * 1024) }],
    'many files': Array.from({ length: 2000 }, (_, i) => ({ path: at(`src/f${i}.rs`), data: '' })),
    'cargo-ok': file(at('.cargo-ok')),
  }
}

/** A long name of 1,024 bytes without a NUL, whose second half is the header of a file. */
function hidingName(top: string): Uint8Array {
  const patch = [
    { at: 100, bytes: '0000644 0000000 0000000 00000000000 00000000000 ' },
    { at: 157, bytes: 'y'.repeat(355) },
  ]
  const [header = Buffer.alloc(0)] = blocks({ path: `${top}/`.padEnd(100, 'm'), patch })
  // Only the checksum ends with a NUL.
  header.write(' ', header.indexOf(0))
  return Buffer.concat([Buffer.from(`${top}/`.padEnd(512, 'name/')), header])
}

/** One pax record; its length counts itself. */
export function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + String(rest).length
  if (String(length).length > String(rest).length) length++
  return `${length} ${key}=${value}\n`
}

/**
 * A tar archive of raw members, with its two end blocks. Long paths get a GNU long name, as Cargo
 * writes them.
 */
export function tar(members: readonly RawMember[]): Buffer {
  return Buffer.concat([...members.flatMap(withLongName).flatMap(blocks), Buffer.alloc(1024)])
}

function withLongName(member: RawMember): RawMember[] {
  if (Buffer.byteLength(member.path) <= 100) return [member]
  const short = member.path.slice(0, 99)
  return [
    { path: '././@LongLink', type: 'L', data: `${member.path}\0` },
    { ...member, path: short },
  ]
}

function blocks(member: RawMember): Buffer[] {
  const data = Buffer.from(member.data ?? '')
  const header = Buffer.alloc(512)
  header.write(member.path, 0, 100)
  header.write('0000644\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write(`${(member.size ?? data.length).toString(8).padStart(11, '0')}\0`, 124)
  header.write('07346545000\0', 136)
  header.write(member.type ?? '0', 156)
  header.write(member.linkName ?? '', 157, 100)
  header.write('ustar\x0000', 257)
  for (const { at, bytes } of member.patch ?? []) Buffer.from(bytes).copy(header, at)
  header.fill(' ', 148, 156)
  const sum = member.checksum ?? header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)]
}
