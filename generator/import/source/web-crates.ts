import { refuse } from '../../../core/error/error.ts'
import { expandDl } from '../../../core/urls.ts'
import { isWebTemplate } from './config.ts'
import type { CrateSource, Wanted } from './source.ts'
import { plain, type Web } from './web.ts'

/** The `.crate` files behind a `dl` template. */
export class WebCrates implements CrateSource {
  readonly description: string
  readonly #web: Web
  readonly #dl: string

  constructor(web: Web, dl: string) {
    if (!isWebTemplate(dl)) refuse('import_dl_foreign', { dl: plain(dl) })
    this.#web = web
    this.#dl = dl
    this.description = plain(dl)
  }

  async take<T>(wanted: Wanted, use: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
    const { name, version } = wanted
    const url = expandDl(this.#dl, wanted)
    return this.#web.take(url, bytes =>
      bytes ? use(bytes) : refuse('import_no_bytes', { name, version, tried: plain(url) }),
    )
  }
}
