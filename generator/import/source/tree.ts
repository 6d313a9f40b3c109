import { basename, dirname, join, resolve } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { CRATES_IO } from '../../../core/index-url.ts'
import { fileBytes, readFolder } from '../../places/disk/files.ts'
import type { Web } from '../../web/web.ts'
import {
  type CrateSource,
  cratesOfDl,
  folderCrates,
  guessUrls,
  namedCrates,
  readDl,
} from './crate-sources.ts'
import { listTiers, readTier } from './index-file.ts'
import type { ImportRequest, OpenedSource } from './source.ts'

/** Opens a folder with an index: a tree of Plimsoll, margo, or a mirror, or a local registry. */
export async function openTree(
  request: ImportRequest,
  web: Web,
  indexFolder: string,
): Promise<OpenedSource> {
  const root = resolve(request.source)
  const index = join(root, indexFolder)
  const dl = await readDl(index)
  const own = folderCrates(root, dl)
  // An index without any .crate next to it is a copy; its files are elsewhere.
  const elsewhere = async () => ((await own.isEmpty()) ? cratesOfDl(dl, index, web) : own)
  const crates = namedCrates(request, web) ?? (await elsewhere())
  const files = await listTiers(index)
  return {
    description: `a folder with an index in ${index}; .crate files from ${crates.description}`,
    ownUrls: guessUrls(dl, indexFolder === '.'),
    total: files.length,
    async *crates() {
      for (const file of files) yield await readTier(index, file, crates)
    },
  }
}

const FORMAT = 3

/** Matches Cargo's caches of crates.io: of the sparse index and of the git index. */
const CRATES_IO_CACHE = /^(?:index\.crates\.io|github\.com)-/

/**
 * Opens Cargo's downloads from one registry: index entries in `registry/index/NAME/.cache`, and
 * `.crate` files of some versions in `registry/cache/NAME`. Only those versions are imported.
 */
export async function openCargoCache(source: string, index: string): Promise<OpenedSource> {
  const folder = resolve(source, index)
  const name = basename(folder)
  const cache = join(dirname(dirname(folder)), 'cache', name)
  const entries = join(folder, '.cache')
  const files = await listTiers(entries)
  const present = new Set((await readFolder(cache)).map(entry => entry.name))
  const crates: CrateSource = {
    description: cache,
    take: ({ name, version }, use) => use(fileBytes(join(cache, `${name}-${version}.crate`))),
  }
  return {
    description: `Cargo's cache of ${name}: ${present.size} .crate files`,
    ownUrls: CRATES_IO_CACHE.test(name) ? [CRATES_IO] : guessUrls(await readDl(folder), false),
    total: files.length,
    async *crates() {
      for (const file of files) {
        const crate = await readTier(entries, file, crates, indexLines)
        const versions = crate.versions.filter(([release]) =>
          present.has(`${release?.identity?.name}-${release?.identity?.version}.crate`),
        )
        yield { ...crate, versions }
      }
    },
  }
}

/**
 * Returns the index lines of a cache file: a byte for its format, four for the index format, then
 * parts that end in NUL, a revision and pairs of version and line (Cargo's
 * `registry/index/cache.rs`).
 */
function indexLines(bytes: Buffer, where: string): Buffer {
  if (bytes[0] !== FORMAT) refuse('import_cargo_cache', { where, format: bytes[0] ?? 0 })
  const [, ...pairs] = bytes.toString('utf8', 5).split('\0')
  return Buffer.from(pairs.filter((_, at) => at % 2 === 1).join('\n'))
}
