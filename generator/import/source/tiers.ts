import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isName, prefix } from '../../../core/name.ts'
import { fileFacts, readFolder } from '../../store/durable-file.ts'
import type { CrateSource } from './crate-sources.ts'
import { INDEX_FILE_MAX, readIndexFile, tooLong } from './index-file.ts'
import type { SourceCrate } from './source.ts'

/** A file at the path of an index file. */
export interface TierFile {
  /** Path below the index, with `/`. */
  readonly path: string
  readonly stem: string
  readonly size: number
}

/**
 * The name whose index file has this path, else null (`1/a`, `2/ab`, `3/a/abc`, `ca/rg/cargo`;
 * specification A.2). Upper case is understood, too.
 */
export function stemOf(path: string): string | null {
  const end = path.lastIndexOf('/')
  const stem = path.slice(end + 1)
  if (end === -1 || !isName(stem)) return null
  return path.slice(0, end).toLowerCase() === prefix(stem).toLowerCase() ? stem : null
}

/** Every index file below a folder, sorted; links are passed over, they may lead anywhere. */
export async function listTiers(root: string): Promise<TierFile[]> {
  const found: TierFile[] = []
  const visit = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readFolder(join(root, ...folder.split('/')))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory() && depth < 2 && isTier(entry.name, depth))
        await visit(path, depth + 1)
      const stem = entry.isFile() ? stemOf(path) : null
      const facts = stem && (await fileFacts(join(root, ...path.split('/'))))
      if (stem && facts) found.push({ path, stem, size: facts.size })
    }
  }
  await visit('', 0)
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** The crate of an index file below `root`; `decode` makes index lines of its bytes. */
export async function readTier(
  root: string,
  { path, stem, size }: TierFile,
  crates: CrateSource,
  decode = (bytes: Buffer, _where: string): Buffer => bytes,
): Promise<SourceCrate> {
  const where = join(root, ...path.split('/'))
  if (size > INDEX_FILE_MAX) return tooLong(where)
  return readIndexFile({ where, stem, bytes: decode(await readFile(where), where) }, crates)
}

function isTier(name: string, depth: number): boolean {
  return depth === 0
    ? /^(?:[123]|[A-Za-z][A-Za-z0-9_-])$/.test(name)
    : /^[A-Za-z0-9_-]{1,2}$/.test(name)
}
