import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { issue } from '../../../core/error/error.ts'
import { readText } from '../../store/durable-file.ts'
import { guessUrls, parseConfig, type SourceConfig } from './config.ts'
import { cratesOfConfig, namedCrates } from './crate-sources.ts'
import type { Detected } from './detect.ts'
import { FolderCrates } from './folder-crates.ts'
import { INDEX_FILE_MAX, readIndexFile } from './index-file.ts'
import type { CrateSource, ImportRequest, Source, SourceCrate } from './source.ts'
import { listTiers, type TierFile } from './tiers.ts'
import type { Web } from './web.ts'

/** A folder with an index in tiers: our own tree, margo's, a mirror's, or a local registry. */
export async function openTree(
  request: ImportRequest,
  detected: Detected,
  web: Web,
): Promise<Source> {
  const root = resolve(request.source)
  const index = join(root, detected.index)
  const config = await readConfig(join(index, 'config.json'))
  const crateSource = namedCrates(request, web) ?? (await ownCrates(root, index, config, web))
  const files = await listTiers(index)
  const isAtRoot = detected.index === '.'
  return {
    kind: detected.kind,
    description: `a folder with an index in ${index}; .crate files from ${crateSource.description}`,
    ownUrls: guessUrls(config, isAtRoot),
    total: files.length,
    async *crates() {
      for (const file of files) yield await readFileOf(index, file, crateSource)
    },
    close: async () => undefined,
  }
}

async function ownCrates(
  root: string,
  index: string,
  config: SourceConfig | null,
  web: Web,
): Promise<CrateSource> {
  const crateSource = new FolderCrates(root, config?.dl ?? null)
  // An index without any .crate beside it is a copy of one whose files are elsewhere.
  return (await crateSource.isEmpty()) ? cratesOfConfig(config, index, web) : crateSource
}

async function readConfig(path: string): Promise<SourceConfig | null> {
  const text = await readText(path)
  return text === null ? null : parseConfig(text, path)
}

async function readFileOf(
  index: string,
  { path, stem, size }: TierFile,
  crateSource: CrateSource,
): Promise<SourceCrate> {
  const where = join(index, ...path.split('/'))
  if (size > INDEX_FILE_MAX) {
    const reasons = [issue('import_too_long', { what: where, max: INDEX_FILE_MAX })]
    return { name: null, versions: [], refused: [{ where, reasons }] }
  }
  return readIndexFile({ where, stem, bytes: await readFile(where) }, crateSource)
}
