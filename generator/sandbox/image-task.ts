import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { imageSize } from 'image-size'
import { imagePath } from '../../core/paths/images.ts'
import { readFiles } from '../../core/tarball/recover.ts'
import { TooComplexError } from '../../site/readme/bounded-tree.ts'
import { IMAGE_BYTES_MAX } from '../../site/readme/images.ts'
import { cleanSvg, looksLikeSvg } from '../../site/readme/svg.ts'

/** An image that may be shown: where it belongs in the public tree, and its size in pixels. */
export interface CheckedImage {
  readonly path: string
  readonly bytes: Uint8Array
  readonly width: number | null
  readonly height: number | null
}

/** A checked image, or why it is not shown, as a clause. */
export type ImageCheck = CheckedImage | { readonly problem: string }

/** The most pixels of an image; a small file can need gigabytes in a browser. */
const PIXELS_MAX = 50_000_000

/** Extensions by the names of `image-size`, with how such a file begins. */
const TYPES: ReadonlyMap<string, readonly [extension: string, begins: RegExp]> = new Map([
  ['png', ['png', /^\x89PNG\r\n/]],
  ['jpg', ['jpg', /^\xff\xd8\xff/]],
  ['gif', ['gif', /^GIF8[79]a/]],
  ['webp', ['webp', /^RIFF.{4}WEBP/s]],
  ['avif', ['avif', /^.{4}ftypavif/s]],
])

/** Checks an image by its bytes, whatever its name or a server says; sanitizes a drawing. */
export function checkImage(bytes: Uint8Array): ImageCheck {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = buffer.toString('latin1', 0, 32)
  try {
    if (!start.includes('\0') && looksLikeSvg(buffer.toString('utf8', 0, 65_536)))
      return drawing(buffer.toString('utf8'))
    const { width, height, type = '', orientation = 1 } = imageSize(buffer)
    const [extension, begins] = TYPES.get(type) ?? []
    if (!extension || !begins?.test(start)) return { problem: 'its type is not supported' }
    if (width * height > PIXELS_MAX) return { problem: 'it has too many pixels' }
    // From 5 on, Exif orientations turn the image by a quarter.
    const sides = orientation >= 5 ? { width: height, height: width } : { width, height }
    return { path: pathOf(buffer, extension), bytes, ...sides }
  } catch (error) {
    // Whatever a reader of image headers throws, it is about the bytes.
    return { problem: error instanceof TooComplexError ? error.message : 'it is not an image' }
  }
}

function drawing(text: string): ImageCheck {
  const clean = cleanSvg(text)
  if (clean === null) return { problem: 'it is not an image' }
  const { svg, ...size } = clean
  const bytes = Buffer.from(svg)
  return { path: pathOf(bytes, 'svg'), bytes, ...size }
}

function pathOf(bytes: Buffer, extension: string): string {
  return imagePath(createHash('sha256').update(bytes).digest('hex'), extension)
}

/** Images to take from a `.crate`. */
export interface PackagedJob {
  readonly path: string
  readonly files: readonly string[]
  /** Maximum size of one in bytes. */
  readonly bytes: number
  readonly unpackedBytes: number
}

/** Returns the check of each image; the files that the `.crate` does not have are missing. */
export async function packagedImages(job: PackagedJob): Promise<Map<string, ImageCheck>> {
  const { path, files, bytes, unpackedBytes } = job
  const found = await readFiles(() => createReadStream(path), new Set(files), {
    fileBytes: bytes,
    bytes: IMAGE_BYTES_MAX,
    unpackedBytes,
  })
  return new Map([...found].map(([file, content]) => [file, checkImage(content)]))
}
