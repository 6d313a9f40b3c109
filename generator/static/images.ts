import type { Output } from '../../core/paths/tree.ts'
import { after, timestamp } from '../../core/timestamp.ts'
import { IMAGE_BYTES_MAX, type ImageCopies, type ImageCopy } from '../../site/readme/images.ts'
import type { PackagedReadme } from '../../site/readme/readme.ts'
import type { DownloadRules } from '../images/download.ts'
import { type FailedImage, fetchAll, fetchImage } from '../images/fetch.ts'
import { fileOf } from '../pages/images.ts'
import type { CheckedImage } from '../sandbox/image-task.ts'
import { packagedImages, renderReadme } from '../sandbox/rendering.ts'
import type { PublicTree } from '../store/public-tree.ts'
import type { BuildCache } from './cache.ts'

/** How long a static build does not try again to download an image. */
const PAUSE = '1d'

/** What became of a URL: a copy, or when to try again (null for never). */
type Fetched = ImageCopy | { readonly retryAt: string | null }

/** A README with the `.crate` that it is from. */
export interface Illustrated extends PackagedReadme {
  readonly crate: string
}

/** The images of READMEs of a static tree; the cache remembers what was downloaded. */
export class StaticImages {
  readonly #tree: PublicTree
  readonly #cache: BuildCache
  readonly #rules: DownloadRules
  readonly #now: Date
  /** What the build before knew of a crate, what this one does, and what it knows of all. */
  readonly #ofCrate = new Map<string, Record<'before' | 'now', Map<string, Fetched>>>()
  readonly #ofAll = new Map<string, Fetched>()

  constructor(tree: PublicTree, cache: BuildCache, rules: DownloadRules, now: Date) {
    this.#tree = tree
    this.#cache = cache
    this.#rules = rules
    this.#now = now
  }

  /** Whether an image of a crate should be tried again; also keeps what is known of the others. */
  isDue(crate: string): boolean {
    const now = timestamp(this.#now)
    return this.#known(crate).some(([, one]) => 'retryAt' in one && (one.retryAt ?? '~') <= now)
  }

  /** Renders the READMEs of a crate. Returns their HTML and the images to write. */
  async render(
    crate: string,
    readmes: readonly (Illustrated | null)[],
  ): Promise<{ readonly htmls: readonly (string | null)[]; readonly files: readonly Output[] }> {
    const files = new Map<string, Output>()
    const drafts = await Promise.all(readmes.map(one => one && this.#draft(one, files)))
    const urls = new Set(drafts.flatMap(one => one?.images.filter(key => !isFile(key)) ?? []))
    const fetched = await this.#fetch(crate, [...urls], files)
    const htmls: (string | null)[] = []
    for (const draft of drafts) {
      const copies = new Map([...fetched, ...(draft?.copies ?? [])])
      const isBetter = draft?.images.some(key => !draft.copies.has(key) && copies.has(key))
      const better = draft && isBetter ? await renderReadme({ ...draft.readme, copies }) : draft
      htmls.push(better?.html ?? null)
    }
    return { htmls, files: [...files.values()] }
  }

  /** Renders a README with the images of its package. */
  async #draft(readme: Illustrated, files: Map<string, Output>) {
    const copies = new Map<string, ImageCopy>()
    const first = await renderReadme(readme)
    const wanted = first.images.filter(isFile)
    if (wanted.length === 0) return { readme, copies, ...first }
    const found = await packagedImages({
      path: readme.crate,
      files: wanted.map(key => key.slice(2)),
      bytes: this.#rules.bytes,
      unpackedBytes: Number.POSITIVE_INFINITY,
    })
    for (const [file, check] of found)
      if ('path' in check) copies.set(`./${file}`, keep(check, files))
    const better = copies.size === 0 ? first : await renderReadme({ ...readme, copies })
    return { readme, copies, ...better }
  }

  async #fetch(
    crate: string,
    urls: readonly string[],
    files: Map<string, Output>,
  ): Promise<ImageCopies> {
    const own = this.#ofCrate.get(crate) ?? { before: new Map(this.#known(crate)), now: new Map() }
    this.#ofCrate.set(crate, own)
    const now = timestamp(this.#now)
    let left = IMAGE_BYTES_MAX
    const results = await fetchAll(urls, async (url): Promise<Fetched | FailedImage> => {
      const before = own.before.get(url) ?? this.#ofAll.get(url)
      if (before && 'path' in before) {
        const bytes = await this.#tree.read(before.path)
        if (bytes) return keep({ ...before, bytes }, files)
      } else if (before && (before.retryAt ?? '~') > now) return before
      const result = await fetchImage(url, this.#rules)
      if ('problem' in result) return result
      if (result.bytes.byteLength > left) return { retryAt: null }
      left -= result.bytes.byteLength
      return keep(result, files)
    })
    for (const [url, result] of results) {
      const fetched = 'problem' in result ? this.#failed(result) : result
      own.now.set(url, fetched)
      this.#ofAll.set(url, fetched)
    }
    if (own.now.size > 0) this.#cache.set(key(crate), [...own.now], true)
    return new Map([...results].flatMap(([url, one]) => ('path' in one ? [[url, one]] : [])))
  }

  #failed({ isFinal }: FailedImage): Fetched {
    return { retryAt: isFinal ? null : timestamp(after(this.#now, PAUSE)) }
  }

  #known(crate: string): readonly (readonly [url: string, fetched: Fetched])[] {
    return this.#cache.get(key(crate)) ?? []
  }
}

const key = (crate: string) => `images ${crate}`

const isFile = (image: string) => image.startsWith('./')

/** Puts an image among the files and returns the copy for pages. */
function keep(image: CheckedImage, files: Map<string, Output>): ImageCopy {
  const { path, width, height, bytes } = image
  files.set(path, fileOf(image))
  return { path, width, height, bytes: bytes.byteLength }
}
