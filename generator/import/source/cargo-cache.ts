import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { CRATES_IO } from '../../../core/release/dependency.ts'
import { readFolder, readText } from '../../store/durable-file.ts'
import { guessUrls, parseConfig, type SourceConfig } from './config.ts'
import { readIndexFile } from './index-file.ts'
import type { CrateSource, Source, SourceCrate } from './source.ts'
import { listTiers, type TierFile } from './tiers.ts'

/** The format of Cargo's index cache that is read here (`CURRENT_CACHE_VERSION`). */
const FORMAT = 3

/** What Cargo calls its caches of crates.io, the sparse index and the git index. */
const CRATES_IO_CACHE = /^(?:index\.crates\.io|github\.com)-/

/**
 * What Cargo has downloaded from one registry: index entries in `registry/index/NAME/.cache`, and
 * the `.crate` files of some of their versions in `registry/cache/NAME`. Only those are imported.
 */
export async function openCargoCache(source: string, index: string): Promise<Source> {
  const folder = resolve(source, index)
  const cache = join(dirname(dirname(folder)), 'cache', basename(folder))
  const files = await listTiers(join(folder, '.cache'))
  const present = new Set((await readFolder(cache)).map(entry => entry.name))
  const crateSource: CrateSource = {
    description: cache,
    take: ({ name, version }, use) =>
      use(createReadStream(join(cache, `${name}-${version}.crate`))),
  }
  return {
    kind: 'cargo-cache',
    description: `what Cargo has in its cache of ${basename(folder)}: ${present.size} .crate files`,
    ownUrls: CRATES_IO_CACHE.test(basename(folder))
      ? [CRATES_IO]
      : guessUrls(await readConfig(join(folder, 'config.json')), false),
    total: files.length,
    async *crates() {
      for (const file of files) {
        const crate = await readCrate(join(folder, '.cache'), file, crateSource)
        yield {
          ...crate,
          versions: crate.versions.filter(([one]) =>
            present.has(`${one?.identity?.name}-${one?.identity?.version}.crate`),
          ),
        }
      }
    },
    close: async () => undefined,
  }
}

async function readConfig(path: string): Promise<SourceConfig | null> {
  const text = await readText(path)
  return text === null ? null : parseConfig(text, path)
}

async function readCrate(
  cache: string,
  { path, stem }: TierFile,
  crateSource: CrateSource,
): Promise<SourceCrate> {
  const where = join(cache, ...path.split('/'))
  const lines = linesOf(await readFile(where), where)
  return readIndexFile({ where, stem, bytes: Buffer.from(lines.join('\n')) }, crateSource)
}

/**
 * The index lines of a cache file: a byte for its format, four for that of the index, then parts
 * that end with NUL, a revision and pairs of version and line (Cargo's `registry/index/cache.rs`).
 */
function linesOf(bytes: Buffer, where: string): string[] {
  if (bytes[0] !== FORMAT) refuse('import_cargo_cache', { where, format: bytes[0] ?? 0 })
  const [, ...pairs] = bytes.toString('utf8', 5).split('\0')
  return pairs.filter((_, at) => at % 2 === 1)
}
