import { sourceFilePath } from '../../core/paths/crates.ts'
import { HIGHLIGHT_MAX } from '../elements/highlight.ts'

/** A file of a package. */
export interface SourceFile {
  /** Path inside the package, separated by `/`. */
  readonly path: string
  readonly size: number
  /** Null for a file larger than `FILE_MAX`. */
  readonly content: Uint8Array | null
  /** SHA-256 of a file without content, if known. */
  readonly digest?: string
}

/** A file that has a page. */
export interface ShownFile {
  readonly file: SourceFile
  /** The folder of the file, ending with a slash. */
  readonly folder: string
  /** The paths of its pages: one for each part. */
  readonly pages: readonly [string, ...string[]]
  /** What each page shows; null for an image. */
  readonly parts: readonly [Part, ...Part[]] | null
}

/** A part of a text: whole lines. */
export interface Part {
  readonly text: string
  /** Number of the first line, from 1, and number of lines. */
  readonly first: number
  readonly lines: number
}

/** Largest file that is shown, in bytes. */
export const FILE_MAX = 1024 * 1024

/** Maximum number of pages of a version. */
const PAGES_MAX = 1000

/** Maximum number of lines of one part. */
const PART_LINES = 2000

/** Longest line that is shown, in characters; such files are made by programs. */
const LINE_MAX = 256 * 1024

/** Returns the files that have pages, by path. */
export function shownFiles(
  name: string,
  version: string,
  files: readonly SourceFile[],
): readonly ShownFile[] {
  const shown: ShownFile[] = []
  const taken = new Set<string>()
  let pages = 0
  for (const file of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = sourceFilePath(name, version, file.path)
    // On a case-insensitive file system, two such pages would be the same file.
    const folded = path?.normalize('NFC').toLowerCase() ?? ''
    if (path === null || taken.has(folded)) continue
    const parts = imageType(file) === null ? textParts(file) : null
    if (parts === null && imageType(file) === null) continue
    const more = (parts ?? []).slice(1)
    if (pages + 1 + more.length > PAGES_MAX) continue
    pages += 1 + more.length
    const rest = more.map((_, at) => sourceFilePath(name, version, file.path, at + 2) ?? path)
    const folder = file.path.replace(/[^/]*$/, '')
    shown.push({ file, folder, pages: [path, ...rest], parts })
    taken.add(folded)
  }
  return shown
}

/** Returns the text of a file; null for a file that is too large or not UTF-8 text. */
export function fileText({ content, size }: SourceFile): string | null {
  if (content === null || size > FILE_MAX || content.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content).replace(/\r\n?/g, '\n')
  } catch {
    return null // not UTF-8: listed as binary
  }
}

function textParts(file: SourceFile): ShownFile['parts'] {
  const text = fileText(file)
  if (text === null) return null
  const [first, ...more] = partsOf(text)
  const isLong = [first, ...more].some(part => part !== undefined && part.text.length > LINE_MAX)
  return first === undefined || isLong ? null : [first, ...more]
}

/** Splits a text into parts that are short enough to be highlighted, but for very long lines. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let [start, first, lines, end] = [0, 1, 0, 0]
  const close = () => {
    parts.push({ text: text.slice(start, end), first, lines })
    start = end
    first += lines
    lines = 0
  }
  while (end < text.length) {
    const found = text.indexOf('\n', end)
    const next = found === -1 ? text.length : found + 1
    if (lines === PART_LINES || (lines > 0 && next - start > HIGHLIGHT_MAX)) close()
    end = next
    lines++
  }
  if (lines > 0 || parts.length === 0) close()
  return parts
}

/** The beginnings of the images that browsers may show, by extension; `.` stands for any byte. */
const IMAGES: ReadonlyMap<string, string> = new Map([
  ['png', '\x89PNG\r\n'],
  ['jpg', '\xff\xd8\xff'],
  ['jpeg', '\xff\xd8\xff'],
  ['gif', 'GIF8'],
  ['webp', 'RIFF....WEBP'],
])

/** Largest image that is shown, in bytes. */
const IMAGE_MAX = 256 * 1024

/** Returns the extension of an image that browsers may show; null for all other files. */
export function imageType({ path, size, content }: SourceFile): string | null {
  if (content === null || size > IMAGE_MAX) return null
  const extension = /[^.]*$/.exec(path)?.[0].toLowerCase() ?? ''
  const first = IMAGES.get(extension)
  const isImage =
    first && [...first].every((one, at) => one === '.' || content[at] === one.charCodeAt(0))
  return isImage ? extension : null
}
