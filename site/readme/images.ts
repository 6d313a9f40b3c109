import { IMAGES_FOLDER } from '../../core/paths/images.ts'
import { isBadge } from './badges.ts'
import { type LinkBase, safeImage } from './links.ts'

/** An image of the package that this site serves. */
export interface PackagedImage {
  /** Its address, relative to the folder of the version. */
  readonly src: string
  readonly width: number | null
  readonly height: number | null
  readonly bytes: number
}

/** The images of a README that this site serves, by their path in the package. */
export type PackagedImages = ReadonlyMap<string, PackagedImage>

export interface ImageOptions {
  /** Whether browsers load other hosts' images, or pages link to them. */
  readonly images: 'link' | 'load'
  /** The base of relative links; null drops them. */
  readonly base: LinkBase | null
  /** Folder of the README in its package: empty, or ending with a slash. */
  readonly folder: string
  readonly packaged: PackagedImages
}

/** How an image is shown: loaded from `src`; else as a link to `url`, or not at all. */
export interface ShownImage {
  readonly src: string | null
  readonly image: PackagedImage | null
  readonly url: string | null
  readonly isLeftOut: boolean
}

/** The most images of a README that this site serves; the others stay links. */
export const IMAGES_MAX = 50

/** The most bytes of images that one README shows; the others stay links. */
export const IMAGE_BYTES_MAX = 25 * 1024 * 1024

/** Decides how the images of one README are shown. */
export class ReadmeImages {
  /** The files of the package that it shows, in the order of the README. */
  readonly files = new Set<string>()
  #bytes = 0
  readonly #shown = new Set<PackagedImage>()
  readonly #options: ImageOptions

  constructor(options: ImageOptions) {
    this.#options = options
  }

  show(src: string | undefined): ShownImage {
    const { base, folder, images } = this.#options
    const url = safeImage(src, base)
    const image = this.#packaged(packagedFile(src ?? '', folder))
    if (image !== null) return { src: image.src, image, url, isLeftOut: false }
    // The content security policy forbids images over plain HTTP.
    const isLoaded = images === 'load' && url?.startsWith('https:') === true
    return {
      src: isLoaded ? url : null,
      image: null,
      url: url ?? base?.inside?.(src ?? '') ?? null,
      isLeftOut: !isLoaded && isBadge(url ?? src ?? ''),
    }
  }

  #packaged(file: string | null): PackagedImage | null {
    if (file === null || (!this.files.has(file) && this.files.size >= IMAGES_MAX)) return null
    this.files.add(file)
    const image = this.#options.packaged.get(file)
    if (image === undefined || this.#shown.has(image)) return image ?? null
    if (this.#bytes + image.bytes > IMAGE_BYTES_MAX) return null
    this.#bytes += image.bytes
    this.#shown.add(image)
    return image
  }
}

/** Returns the file of the package for a relative link; null for any other link. */
export function packagedFile(src: string, folder: string): string | null {
  const link = src.trim().replace(/[?#].*$/s, '')
  if (link === '' || link.length > 400 || /^(?:[a-z][a-z0-9+.-]*:|\/\/|\\)/i.test(link)) return null
  const segments: string[] = []
  for (const raw of (link.startsWith('/') ? link : folder + link).split('/')) {
    const segment = decoded(raw)
    if (segment === '..' && segments.pop() === undefined) return null
    if (segment === null || /[/\\\0]/.test(segment)) return null
    if (segment !== '' && segment !== '.' && segment !== '..') segments.push(segment)
  }
  return segments.length === 0 ? null : segments.join('/')
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null // an invalid `%` names no file
  }
}

/** Makes a README's links into its package relative to a page; `folder` is that of the version. */
export function placeFiles(html: string, folder: string): string {
  // In sanitized HTML, a quote is only where an attribute's value begins or ends.
  const place = folder.replaceAll('&', '&amp;')
  return html.replaceAll(
    new RegExp(`( (?:src(?:set)?|href)=")(?=${IMAGES_FOLDER}/|src/#)`, 'g'),
    (_, before) => before + place,
  )
}
