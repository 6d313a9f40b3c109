import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { isWebTemplate, type SourceConfig } from './config.ts'
import { FolderCrates } from './folder-crates.ts'
import type { CrateSource, SourceKind } from './source.ts'
import type { Web } from './web.ts'
import { WebCrates } from './web-crates.ts'

/** What an operator asks to be imported. */
export interface ImportRequest {
  /** Folder, file or URL. */
  readonly source: string
  /** What it is, when it could be several things. */
  readonly as: SourceKind | null
  /** Folder or URL of the `.crate` files, when they are not where the source says. */
  readonly crates: string | null
  /** File with the names of the crates of a sparse index. */
  readonly names: string | null
  readonly token: string | null
  /** Index URLs that mean the source, besides those it is known by. */
  readonly sourceUrls: readonly string[]
}

/** The `.crate` files that the operator has named; null when nothing was named. A host named here may see the token. */
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

/** The `.crate` files where the `dl` of an index leads; `where` is the index, for people. */
export function cratesOfConfig(config: SourceConfig | null, where: string, web: Web): CrateSource {
  if (!config) return refuse('import_no_dl', { where })
  return new WebCrates(web, config.dl)
}
