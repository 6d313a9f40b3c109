/** Number of bytes in which git looks for a zero, which text has not. */
const BEGINNING = 8000

/** The largest text that is shown, in bytes. */
export const TEXT_MAX = 16 * 1024 * 1024

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Has a character for each byte. */
const BYTES = new TextDecoder('windows-1252')

/** Returns the text of a file, as git tells it from other files; null for others and huge ones. */
export function textOf(bytes: Uint8Array): string | null {
  return textsOf([bytes])?.[0] ?? null
}

/** Returns the texts of files, which differ as their bytes do; null if one of them has no text. */
export function textsOf(files: readonly Uint8Array[]): string[] | null {
  for (const bytes of files)
    if (bytes.length > TEXT_MAX || bytes.subarray(0, BEGINNING).includes(0)) return null
  try {
    return files.map(bytes => UTF8.decode(bytes))
  } catch {
    return files.map(bytes => BYTES.decode(bytes))
  }
}

/** The beginnings of the images that browsers may show, by extension; `.` stands for any byte. */
const IMAGES: ReadonlyMap<string, readonly [type: string, begins: string]> = new Map([
  ['png', ['image/png', '\x89PNG\r\n']],
  ['jpg', ['image/jpeg', '\xff\xd8\xff']],
  ['jpeg', ['image/jpeg', '\xff\xd8\xff']],
  ['gif', ['image/gif', 'GIF8']],
  ['webp', ['image/webp', 'RIFF....WEBP']],
])

/** The largest image that is shown, in bytes. */
const IMAGE_MAX = 8 * 1024 * 1024

/** Returns the media type of an image that browsers may show; null for all other files. */
export function imageType(path: string, bytes: Uint8Array): string | null {
  if (bytes.length > IMAGE_MAX) return null
  const [type, begins] = IMAGES.get(/[^.]*$/.exec(path)?.[0].toLowerCase() ?? '') ?? []
  const isImage =
    begins && [...begins].every((char, at) => char === '.' || bytes[at] === char.charCodeAt(0))
  return isImage && type !== undefined ? type : null
}

/** Prefix of the addresses of images in a rendered document; the page puts their bytes there. */
export const IMAGE_PREFIX = 'package:'

/** Returns the file that a package shows first: its library or program, or else its manifest. */
export function mainFile(files: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>): string {
  const preferred = ['src/lib.rs', 'src/main.rs', 'lib.rs', 'README.md', 'Cargo.toml']
  return preferred.find(path => files.has(path)) ?? [...files.keys()].sort()[0] ?? ''
}
