import { IMAGES_FOLDER } from '../../core/paths/images.ts'
import { isBadge } from './badges.ts'
import { type LinkBase, safeImage } from './links.ts'

/** An image that this site serves. */
export interface ImageCopy {
  /** Path in the public tree. */
  readonly path: string
  /** In pixels; null when unknown. */
  readonly width: number | null
  readonly height: number | null
  readonly bytes: number
}

/** The images of a README that this site serves, by key (see `ReadmeImages`). */
export type ImageCopies = ReadonlyMap<string, ImageCopy>

/** What decides how the images of a README are shown. */
export interface ImageOptions {
  /** What becomes of images from elsewhere. */
  readonly images: 'link' | 'copy' | 'load'
  /** What relative links resolve to; null drops them. */
  readonly base: LinkBase | null
  /** Folder of the README in its package: empty, or ending with a slash. */
  readonly folder: string
  readonly copies: ImageCopies
}

/** How an image is shown: loaded from `src`; else as a link to `url`, or not at all. */
export interface ShownImage {
  readonly src: string | null
  readonly copy: ImageCopy | null
  readonly url: string | null
  readonly isLeftOut: boolean
}

/** The most images of a README that this site serves; the others stay links. */
export const IMAGES_MAX = 50

/** The most bytes of images that one README shows; the others stay links. */
export const IMAGE_BYTES_MAX = 25 * 1024 * 1024

/** The images of one README. A file of the package has the key `./path`, any other its URL. */
export class ReadmeImages {
  /** The keys of the images that this site should serve, in the order of the README. */
  readonly keys = new Set<string>()
  #bytes = 0
  readonly #shown = new Set<ImageCopy>()
  readonly #options: ImageOptions

  constructor(options: ImageOptions) {
    this.#options = options
  }

  /** Decides how an image is shown. */
  show(given: string | undefined): ShownImage {
    const { base, folder, images, copies } = this.#options
    const url = safeImage(given, base)
    const file = packagedKey(given ?? '', folder)
    const copy = this.#copy(file, copies) ?? (images === 'copy' ? this.#copy(url, copies) : null)
    if (copy !== null) return { src: copy.path, copy, url, isLeftOut: false }
    // The content security policy forbids images over plain HTTP.
    const isLoaded = images === 'load' && url?.startsWith('https:') === true
    return {
      src: isLoaded ? url : null,
      copy: null,
      url,
      isLeftOut: !isLoaded && isBadge(url ?? given ?? ''),
    }
  }

  #copy(key: string | null, copies: ImageCopies): ImageCopy | null {
    if (key === null || (!this.keys.has(key) && this.keys.size >= IMAGES_MAX)) return null
    this.keys.add(key)
    const copy = copies.get(key)
    if (copy === undefined || this.#shown.has(copy)) return copy ?? null
    if (this.#bytes + copy.bytes > IMAGE_BYTES_MAX) return null
    this.#bytes += copy.bytes
    this.#shown.add(copy)
    return copy
  }
}

/** Returns the key of a file of the package for a relative link; null for any other link. */
function packagedKey(given: string, folder: string): string | null {
  const link = given.trim().replace(/[?#].*$/s, '')
  if (link === '' || link.length > 400 || /^(?:[a-z][a-z0-9+.-]*:|\/\/|\\)/i.test(link)) return null
  const segments: string[] = []
  for (const raw of (link.startsWith('/') ? link : folder + link).split('/')) {
    const segment = decoded(raw)
    if (segment === '..' && segments.pop() === undefined) return null
    if (segment === null || /[/\\\0]/.test(segment)) return null
    if (segment !== '' && segment !== '.' && segment !== '..') segments.push(segment)
  }
  return segments.length === 0 ? null : `./${segments.join('/')}`
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null // an invalid `%` names no file
  }
}

/** Makes a README's links to images of this site relative to the page that shows it. */
export function placeImages(html: string, to: (path: string) => string): string {
  // In sanitized HTML, a quote is only where an attribute's value begins or ends.
  const folder = to(`${IMAGES_FOLDER}/x`).slice(0, -1).replaceAll('&', '&amp;')
  return html.replaceAll(/( src(?:set)?=")images\//g, (_, before) => before + folder)
}
