import { createReadStream } from 'node:fs'
import { posix } from 'node:path'
import { imageSize } from 'image-size'
import { IMAGES_FOLDER } from '../../core/paths/images.ts'
import { sha256 } from '../../core/sha256.ts'
import { listFiles, readFiles } from '../../core/tarball/recover.ts'
import { TooComplexError } from '../../site/readme/bounded-tree.ts'
import { IMAGE_BYTES_MAX, type PackagedImage, packagedFile } from '../../site/readme/images.ts'
import { linkBase } from '../../site/readme/links.ts'
import { type PackagedReadme, renderReadme } from '../../site/readme/readme.ts'
import { cleanSvg, looksLikeSvg } from '../../site/readme/svg.ts'
import { fileFragment } from '../../site/source/address.ts'

/** An image that may be shown: the name of its file, and its size in pixels. */
export interface CheckedImage {
  readonly name: string
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

/** Checks an image by its bytes alone, not by its name or type; sanitizes a drawing. */
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
    return { name: nameOf(buffer, extension), bytes, ...sides }
  } catch (error) {
    // Every error that a reader of image headers throws is about the bytes.
    return { problem: error instanceof TooComplexError ? error.message : 'it is not an image' }
  }
}

function drawing(text: string): ImageCheck {
  const clean = cleanSvg(text)
  if (clean === null) return { problem: 'it is not an image' }
  const { svg, ...size } = clean
  const bytes = Buffer.from(svg)
  return { name: nameOf(bytes, 'svg'), bytes, ...size }
}

function nameOf(bytes: Buffer, extension: string): string {
  return `${sha256(bytes)}.${extension}`
}

/** Largest image that is shown, in bytes; larger ones are links. */
const BYTES_MAX = 5 * 1024 * 1024

/** A README, and the `.crate` whose images it may show. */
export interface ReadmeJob {
  readonly readme: PackagedReadme
  /** Path of the `.crate`, and how large it may become unpacked; null without one. */
  readonly crate: { readonly path: string; readonly unpackedBytes: number } | null
  /** Whether links that lead nowhere else may lead to pages about files of the package. */
  readonly source: boolean
}

/** A README, and the images of its package that it shows. */
export interface IllustratedReadme {
  readonly html: string
  readonly files: readonly CheckedImage[]
}

/** Renders a README with the images that browsers may show, and links to files of its package. */
export async function renderIllustrated(job: ReadmeJob): Promise<IllustratedReadme> {
  const { readme, crate, source } = job
  if (crate === null) return { html: renderReadme(readme).html, files: [] }
  const read = () => createReadStream(crate.path)
  const isInside = source && linkBase(readme.about) === null
  const listed = isInside ? await listFiles(read, crate.unpackedBytes) : []
  const names = new Set(listed.map(({ path }) => path))
  const folder = posix.join(posix.dirname(readme.about.readme_file ?? ''), '/')
  const inside = (link: string) => {
    const path = packagedFile(link, folder)
    return path && names.has(path) ? `src/${fileFragment({ path, lines: null })}` : null
  }
  const first = renderReadme(readme, isInside ? inside : undefined)
  if (first.images.length === 0) return { html: first.html, files: [] }
  const imageFiles = await readFiles(read, new Set(first.images), {
    fileBytes: BYTES_MAX,
    bytes: IMAGE_BYTES_MAX,
    unpackedBytes: crate.unpackedBytes,
  })
  const packaged = new Map<string, PackagedImage>()
  const files: CheckedImage[] = []
  for (const [path, content] of imageFiles) {
    const image = checkImage(content)
    if ('problem' in image) continue
    files.push(image)
    const { name, width, height, bytes } = image
    packaged.set(path, { src: `${IMAGES_FOLDER}/${name}`, width, height, bytes: bytes.byteLength })
  }
  return { html: renderReadme({ ...readme, packaged }, isInside ? inside : undefined).html, files }
}
