import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { GIT_INDEX_FOLDER, INDEX_FOLDER, type Output, pathInGit } from '../../core/paths/tree.ts'
import { BRANCH, objectId } from './index-repository/bare-repository.ts'
import { type Folder, folderOf, REGISTRY } from './index-repository/engine.ts'

/** The configuration marks a repository of this module: a later build may rewrite it. */
export const STATIC_CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[plimsoll]
\tstatic = true
`

/**
 * Renders the index files among `outputs` as a bare git repository for plain file servers
 * (gitrepository-layout): one commit without history and date, so that equal files give equal
 * bytes. Needs no git.
 */
export function renderGitIndex(outputs: readonly Output[]): Output[] {
  const writer = new PackWriter()
  const files = outputs
    .filter(({ path }) => path.startsWith(`${INDEX_FOLDER}/`))
    .map(({ path, bytes }) => [pathInGit(path), writer.add('blob', bytes)] as const)
  const person = `${REGISTRY.name} <${REGISTRY.email}> 0 +0000`
  const text = `tree ${addTree(writer, folderOf(files))}\nauthor ${person}\ncommitter ${person}\n\nplimsoll build --from\n`
  const commit = writer.add('commit', Buffer.from(text))
  const { name, pack, index } = writer.finish()
  // Refs come after the objects they point to, so that clients never miss an object during a write.
  return [
    repositoryFile(`objects/pack/pack-${name}.pack`, pack),
    repositoryFile(`objects/pack/pack-${name}.idx`, index),
    repositoryFile('objects/info/packs', Buffer.from(`P pack-${name}.pack\n\n`)),
    repositoryFile(BRANCH, Buffer.from(`${commit}\n`)),
    repositoryFile('info/refs', Buffer.from(`${commit}\t${BRANCH}\n`)),
    repositoryFile('config', Buffer.from(STATIC_CONFIG)),
    repositoryFile('HEAD', Buffer.from(`ref: ${BRANCH}\n`)),
  ]
}

function repositoryFile(path: string, bytes: Buffer): Output {
  const cache = path.startsWith('objects/pack/') ? 'immutable' : 'revalidate'
  return {
    path: `${GIT_INDEX_FOLDER}/${path}`,
    bytes,
    contentType: 'application/octet-stream',
    cache,
  }
}

function addTree(writer: PackWriter, { folders, files }: Folder<string>): string {
  const entries = [...files].map(([name, id]) => ({ name, key: name, mode: '100644', id }))
  // Git sorts a folder as if its name ended in a slash.
  for (const [name, inner] of folders)
    entries.push({ name, key: `${name}/`, mode: '40000', id: addTree(writer, inner) })
  entries.sort((a, b) => (a.key < b.key ? -1 : 1))
  const bytes = entries.flatMap(({ name, mode, id }) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(id, 'hex'),
  ])
  return writer.add('tree', Buffer.concat(bytes))
}

/** Kinds of git objects by the numbers they have in a pack (gitformat-pack). */
const KINDS = { commit: 1, tree: 2, blob: 3 } as const

/**
 * Collects git objects in one pack (gitformat-pack, version 2). Its bytes depend only on the
 * objects: nothing is compressed, because deflate output depends on library version and processor.
 */
export class PackWriter {
  readonly #parts: Buffer[] = []
  readonly #entries = new Map<string, { readonly offset: number; readonly crc: number }>()
  #size = 12

  add(kind: keyof typeof KINDS, bytes: Uint8Array): string {
    const id = objectId(kind, bytes)
    if (this.#entries.has(id)) return id
    const entry = Buffer.concat([entryHeader(KINDS[kind], bytes.length), stored(bytes)])
    this.#entries.set(id, { offset: this.#size, crc: crc32(entry) })
    this.#parts.push(entry)
    this.#size += entry.length
    return id
  }

  finish(): { name: string; pack: Buffer; index: Buffer } {
    // The index has 31 bits for an offset; larger ones would need a separate table.
    if (this.#size > 0x7fff_ffff)
      throw new RangeError('an index of more than 2 GiB does not fit into one pack')
    const head = Buffer.concat([Buffer.from('PACK'), u32(2), u32(this.#entries.size)])
    const body = Buffer.concat([head, ...this.#parts])
    const sum = sha1(body)
    return { name: sum.toString('hex'), pack: Buffer.concat([body, sum]), index: this.#index(sum) }
  }

  #index(packSum: Buffer): Buffer {
    const sorted = [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1))
    // For each byte, the number of ids that begin with it or a lower one.
    let count = 0
    const fan = Array.from({ length: 256 }, (_, byte) => {
      const start = byte.toString(16).padStart(2, '0')
      while (sorted[count]?.[0].startsWith(start)) count++
      return count
    })
    const body = Buffer.concat([
      Buffer.from([0xff, 0x74, 0x4f, 0x63]),
      u32(2),
      ...fan.map(u32),
      ...sorted.map(([id]) => Buffer.from(id, 'hex')),
      ...sorted.map(([, { crc }]) => u32(crc)),
      ...sorted.map(([, { offset }]) => u32(offset)),
      packSum,
    ])
    return Buffer.concat([body, sha1(body)])
  }
}

/** Returns kind and size: the lowest 4 bits of the size with the kind, then 7 bits per byte. */
function entryHeader(kind: number, size: number): Buffer {
  const bytes = [(kind << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(rest & 127)
  }
  return Buffer.from(bytes)
}

/** Returns a zlib stream of the uncompressed bytes (RFC 1950; RFC 1951, 3.2.4). */
function stored(bytes: Uint8Array): Buffer {
  const parts: Uint8Array[] = [Buffer.from([0x78, 0x01])]
  let at = 0
  do {
    const part = bytes.subarray(at, at + 0xffff)
    at += part.length
    const head = Buffer.alloc(5)
    head[0] = at >= bytes.length ? 1 : 0
    head.writeUInt16LE(part.length, 1)
    head.writeUInt16LE(0xffff - part.length, 3)
    parts.push(head, part)
  } while (at < bytes.length)
  parts.push(u32(adler32(bytes)))
  return Buffer.concat(parts)
}

function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0]
  for (const byte of bytes) {
    a = (a + byte) % 65521
    b = (b + a) % 65521
  }
  return b * 65536 + a
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function sha1(bytes: Uint8Array): Buffer {
  return createHash('sha1').update(bytes).digest()
}
