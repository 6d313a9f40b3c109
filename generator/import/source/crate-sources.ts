import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { expandDl } from '../../../core/urls.ts'
import { isWebTemplate, type SourceConfig } from './config.ts'
import { FolderCrates } from './folder-crates.ts'
import type { CrateSource, ImportRequest, Wanted } from './source.ts'
import { plain, type Web } from './web.ts'

/** The `.crate` files the operator has named, or null. A host named here may see the token. */
export function namedCrates(
  { crates }: Pick<ImportRequest, 'crates'>,
  web: Web,
): CrateSource | null {
  if (crates === null) return null
  if (isWebTemplate(crates)) {
    web.trust(crates.replace(/\{.*$/s, ''))
    return new WebCrates(web, crates.replace(/\/+$/, ''))
  }
  if (!existsSync(crates)) refuse('file_missing', { path: crates })
  return new FolderCrates(resolve(crates), null)
}

/** The `.crate` files at the `dl` of an index; `where` names the index for people. */
export function cratesOfConfig(config: SourceConfig | null, where: string, web: Web): CrateSource {
  if (!config) return refuse('import_no_dl', { where })
  return new WebCrates(web, config.dl)
}

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
