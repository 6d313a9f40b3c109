import { type Issue, issue, refuse } from '../error/error.ts'
import { type ByteReader, decodeUtf8 } from './bytes.ts'

const BLOCK = 512
/** Maximum number of errors, where reading stops, and of warnings that are kept. */
export const ISSUES_MAX = 20
const EXTENSION_MAX = 16 * 1024

/** One member of a tar archive: a regular file or a folder. */
export interface Member {
  readonly path: string
  /** Entries of any other kind: only Cargo sees them. */
  readonly kind: 'file' | 'folder' | 'other'
  readonly size: number
  /** The bits of its permissions; null if they cannot be read. */
  readonly mode: number | null
}

/** Who reads: a registry that is asked to accept an archive, or Cargo, which unpacks it. */
export type Reader = 'registry' | 'cargo'

/** The content of an extended header, which describes the next member. */
interface Extension {
  readonly longName?: string
  readonly pax?: ReadonlyMap<string, string>
}

/**
 * Walks the members of a tar up to its end; `visit` gets each and a way to read its bytes. No tar
 * library is used, because each is lenient in its own way (`tar-stream` trusts a pax size, goes on
 * after the end blocks and gives folders no data; Cargo's reader does the opposite). An archive
 * that two readers could see differently must be refused: any type but file and folder, two sizes,
 * two names, two extended headers of a member, unknown formats. Where the reader is Cargo, what it
 * sees counts (its crate `tar`), and only what it refuses is refused. Errors after which reading
 * can continue are added to `issues`, others are thrown as a `Refusal`; both name the member.
 * Returns whether it came to the end. Runs in browsers, too.
 */
export async function walkTar(
  bytes: ByteReader,
  issues: Issue[],
  visit: (member: Member, read: () => AsyncGenerator<Uint8Array>) => Promise<'go on' | 'stop'>,
  reader: Reader = 'registry',
): Promise<boolean> {
  const isCargo = reader === 'cargo'
  let extension: Extension | null = null
  for (;;) {
    const block = await bytes.take(BLOCK)
    if (block === null || isZero(block)) break
    const header = readHeader(block, isCargo)
    // Some versions of Cargo apply a pax size to the next header, whatever its type.
    const paxSize = extension?.pax?.get('size')
    if (isCargo && paxSize && /^\d{1,15}$/.test(paxSize)) header.size = Number(paxSize)
    if ('Lx'.includes(header.type) && !(isCargo && header.format === 'old')) {
      if (extension && !(isCargo && (header.type === 'L' ? extension.pax : extension.longName)))
        refuse('archive_header', { path: header.name, reason: 'it has two extended headers' })
      extension = { ...(extension ?? {}), ...(await readExtension(bytes, header, isCargo)) }
      continue
    }
    const path = extension?.longName ?? extension?.pax?.get('path') ?? header.name
    const odd = typeError(header, path)
    // Before ustar, a slash at the end made a folder; for Cargo it still does.
    const isFolder =
      header.type === '5' || (isCargo && header.format !== 'ustar' && /\/$/.test(path))
    const kind = odd ? 'other' : isFolder ? 'folder' : 'file'
    const { size, mode } = header
    const member: Member = { path, kind, size, mode }
    const error = odd ?? (isCargo ? null : errorOf(member, extension))
    extension = null
    let left = member.size
    const read = async function* (): AsyncGenerator<Uint8Array> {
      while (left > 0) {
        const piece = await bytes.upTo(left)
        left -= piece.length
        yield piece
      }
    }
    if (error && !isCargo) {
      if (issues.push(error) >= ISSUES_MAX) return false
    } else {
      if (error && issues.length < ISSUES_MAX) issues.push(error)
      if ((await visit(member, read)) === 'stop') return false
    }
    await bytes.skip(left + padding(member.size))
  }
  if (extension) refuse('archive_cut_off')
  return true
}

type Format = 'ustar' | 'gnu' | 'old'

/** The magic and version of each format; the one before ustar has none. */
const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['ustar\0' + '00', 'ustar'],
  ['ustar  \0', 'gnu'],
  ['\0\0\0\0\0\0\0\0', 'old'],
])

interface Header extends Pick<Member, 'mode'> {
  readonly name: string
  readonly format: Format
  readonly type: string
  size: number
}

function readHeader(block: Uint8Array, isCargo: boolean): Header {
  let sum = 8 * 32
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += block[i] ?? 0
  const { name, format } = readName(block, isCargo)
  const read = isCargo ? readNumber : readOctal
  if (read(block.subarray(148, 156)) !== sum)
    refuse('archive_header', { path: name, reason: 'its checksum is wrong' })
  const size = read(block.subarray(124, 136))
  if (size === null)
    refuse('archive_header', { path: name, reason: 'its size is not a plain octal number' })
  const type = block[156] === 0 ? '0' : String.fromCharCode(block[156] ?? 0)
  return { name, format, type, size, mode: readNumber(block.subarray(100, 108)) }
}

/** Reads the name in a header, with the prefix field that only the ustar format has. */
function readName(block: Uint8Array, isCargo: boolean): Pick<Header, 'name' | 'format'> {
  const name = readText(block.subarray(0, 100), isCargo)
  const magic = FORMATS.get(latin1(block.subarray(257, 265)))
  const format = magic ?? (isCargo ? 'old' : null)
  if (!format) return refuse('archive_header', { path: name, reason: 'its tar format is unknown' })
  const prefix = format === 'ustar' ? readText(block.subarray(345, 500), isCargo) : ''
  return { name: prefix === '' ? name : `${prefix}/${name}`, format }
}

/** Reads text up to the first NUL; refuses bytes after it, which could be a second name. */
function readText(field: Uint8Array, isCargo: boolean): string {
  const end = field.indexOf(0)
  const text = decode(end === -1 ? field : field.subarray(0, end), isCargo)
  if (!isCargo && end !== -1 && !isZero(field.subarray(end))) {
    refuse('archive_header', { path: text, reason: 'its name has bytes after the end' })
  }
  return text
}

function decode(field: Uint8Array, isCargo: boolean): string {
  const text = decodeUtf8(field)
  if (text !== null) return text
  return isCargo ? LOSSY.decode(field) : refuse('archive_path_encoding', { path: latin1(field) })
}

const LOSSY = new TextDecoder('utf-8', { ignoreBOM: true })

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

/** Reads octal digits after optional spaces, before optional spaces or NULs; null otherwise. */
function readOctal(field: Uint8Array): number | null {
  const match = /^ *([0-7]{1,12})[ \0]*$/.exec(latin1(field))
  return match ? Number.parseInt(match[1] ?? '', 8) : null
}

/** Reads a number as Cargo does: in base 256 after a set first bit, else octal up to a NUL. */
function readNumber(field: Uint8Array): number | null {
  const last = field.subarray(-8)
  const [first = 0] = field
  if (first >= 0x80) return last.reduce((sum, byte) => (sum * 256 + byte) % 2 ** 53, 0)
  const match = /^\s*\+?([0-7]+)\s*(?:\0|$)/.exec(latin1(field))
  return match ? Number.parseInt(match[1] ?? '', 8) : null
}

async function readExtension(
  bytes: ByteReader,
  header: Header,
  isCargo: boolean,
): Promise<Extension> {
  const path = header.name
  // Cargo skips such a header, so that it gives the next member its short name.
  if (header.format === 'old')
    refuse('archive_header', { path, reason: 'its tar format has no extended headers' })
  if (header.size > EXTENSION_MAX)
    refuse('archive_header', { path, reason: 'its extended header is too long' })
  const data = await bytes.take(header.size)
  if (data === null) refuse('archive_cut_off')
  await bytes.skip(padding(header.size))
  if (header.type === 'x') return { pax: readPax(decode(data, isCargo), path, isCargo) }
  return { longName: readLongName(data, isCargo) }
}

/** Reads a name with at most one NUL after it: Cargo counts others as part of the name. */
function readLongName(data: Uint8Array, isCargo: boolean): string {
  const name = data.at(-1) === 0 ? data.subarray(0, -1) : data
  if (!isCargo && name.includes(0)) {
    const path = decode(name.subarray(0, name.indexOf(0)), isCargo)
    refuse('archive_header', { path, reason: 'its name has bytes after the end' })
  }
  return decode(name, isCargo)
}

/**
 * Parses a pax extended header (records `LENGTH KEY=VALUE\n`). Refuses records that readers
 * interpret differently: a wrong length, a newline or NUL, a duplicate key, another character set,
 * sparse maps. Cargo passes over such records, and takes the first of a key.
 */
function readPax(text: string, member: string, isCargo: boolean): ReadonlyMap<string, string> {
  const records = new Map<string, string>()
  const object = (what: string) =>
    refuse('archive_header', { path: member, reason: `its extended header ${what}` })
  const lines = text.split('\n')
  if (lines.pop() !== '' && !isCargo) object('is malformed')
  for (const line of lines) {
    const [, length, key = '', value = ''] =
      /^([1-9][0-9]{0,5}) ([^=\0]+)=([^\0]*)$/.exec(line) ?? []
    const isWhole = Number(length) === new TextEncoder().encode(line).length + 1
    if (isCargo) {
      if (isWhole && !records.has(key)) records.set(key, value)
      continue
    }
    if (!isWhole) object('is malformed')
    if (records.has(key)) object(`has \`${key}\` twice`)
    if (key.startsWith('GNU.sparse.')) refuse('archive_type', { path: member, type: 'sparse file' })
    if (key === 'hdrcharset' || key === 'linkpath') object(`has \`${key}\``)
    records.set(key, value)
  }
  return records
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['1', 'hard link'],
  ['2', 'symbolic link'],
  ['3', 'character device'],
  ['4', 'block device'],
  ['6', 'named pipe'],
  ['7', 'contiguous file'],
  ['S', 'sparse file'],
  ['g', 'global header'],
  ['K', 'long link name'],
])

function typeError({ type }: Header, path: string): Issue | null {
  if (type === '0' || type === '5') return null
  return issue('archive_type', { path, type: TYPES.get(type) ?? `member of type \`${type}\`` })
}

function errorOf({ path, kind, size }: Member, extension: Extension | null): Issue | null {
  const object = (reason: string): Issue => issue('archive_header', { path, reason })
  const paxSize = extension?.pax?.get('size') ?? String(size)
  if (paxSize !== String(size)) return object(`its two sizes differ (${size} and ${paxSize})`)
  if (kind === 'folder' && size > 0) return object('it is a folder with contents')
  return null
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every(byte => byte === 0)
}
