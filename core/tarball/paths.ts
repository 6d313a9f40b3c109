import { type Issue, issue, warning } from '../error/error.ts'

const PATH_MAX = 1024
/** Maximum length of a name between slashes, in bytes, as of all common file systems. */
export const PART_MAX = 255
/** Characters of a file name with which Cargo refuses to package; the backslash is its own error. */
const SPECIAL = /[<>:"|?*]/
/** Device names on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i

/** The paths of an archive below its top folder; checks each alone and against the others. */
export class PathBook {
  readonly #kinds = new Map<string, 'file' | 'folder'>()
  readonly #folded = new Map<string, string>()

  get size(): number {
    return this.#kinds.size
  }

  /** Returns errors of a path that a system could interpret in two ways or as outside the crate. */
  static issues(path: string): Issue[] {
    const reason = reasonAgainst(path)
    return reason === null ? [] : [issue('archive_path', { path, reason })]
  }

  /** Adds a path; reports conflicts, and warns about paths that some systems cannot store. */
  add(path: string, kind: 'file' | 'folder'): Issue[] {
    const kindBefore = this.#kinds.get(path)
    if (kindBefore === 'folder' && kind === 'folder') return []
    if (kindBefore === kind) return [issue('archive_path_twice', { path })]
    if (kindBefore)
      return [issue('archive_path', { path, reason: 'it is both a file and a folder' })]
    this.#kinds.set(path, kind)
    const issues = this.#addParents(path)
    const folded = path.normalize('NFC').toLowerCase()
    const twin = this.#folded.get(folded)
    const isCase = twin?.normalize('NFC') !== path.normalize('NFC')
    const code = isCase ? 'archive_path_case' : 'archive_path_normalized'
    if (twin !== undefined) issues.push(warning(code, { path, twin }))
    this.#folded.set(folded, path)
    if (kind === 'file' && !isPortable(path)) issues.push(warning('archive_path_windows', { path }))
    return issues
  }

  #addParents(path: string): Issue[] {
    const end = path.lastIndexOf('/')
    if (end === -1) return []
    const parent = path.slice(0, end)
    const parentKind = this.#kinds.get(parent)
    if (parentKind === 'file')
      return [issue('archive_path', { path: parent, reason: 'it is both a file and a folder' })]
    if (parentKind === 'folder') return []
    return this.add(parent, 'folder')
  }
}

function reasonAgainst(path: string): string | null {
  const parts = path.split('/')
  if (path.startsWith('/')) return 'it is absolute'
  if (parts.includes('..')) return 'it contains `..`'
  if (parts.includes('.') || parts.includes('')) return 'it has an empty or `.` part'
  if (path.includes('\\')) return 'it contains a backslash'
  if (path.includes('\0')) return 'it contains a NUL'
  if (Buffer.byteLength(path) > PATH_MAX) return `it is longer than ${PATH_MAX} bytes`
  if (parts.some(part => Buffer.byteLength(part) > PART_MAX))
    return `a name in it is longer than ${PART_MAX} bytes`
  // Names that Windows takes for others: NTFS writes `a::$DATA` to `a`.
  const special = SPECIAL.exec(parts.at(-1) ?? '')
  if (special) return `its name contains \`${special[0]}\``
  return parts.some(part => part.includes(':$')) ? 'it contains `:$`' : null
}

function isPortable(path: string): boolean {
  if ([...path].some(character => character < ' ')) return false
  return path.split('/').every(part => !/[<>:"|?*]|[. ]$/.test(part) && !DEVICE.test(part))
}
