import { join, resolve } from 'node:path'
import { issue, Refusal, refuse } from '../../../core/error/error.ts'
import { parseManifest } from '../../../core/manifest/parse.ts'
import type { Name } from '../../../core/name.ts'
import type { Version } from '../../../core/version.ts'
import { readFolder, readText } from '../../store/durable-file.ts'
import { namedCrates } from './crate-sources.ts'
import { FolderCrates } from './folder-crates.ts'
import type { CrateSource, ImportRequest, Source, SourceCrate, SourceRelease } from './source.ts'
import type { Web } from './web.ts'

/** A folder of `cargo vendor`: unpacked sources and the checksums that their `.crate` files had. */
export async function openVendor(request: ImportRequest, web: Web): Promise<Source> {
  const root = resolve(request.source)
  const beside = new FolderCrates(root, null)
  const named = namedCrates(request, web)
  // Sources could be packed again, but not to the bytes whose checksums are in lock files.
  if (!named && (await beside.isEmpty())) refuse('import_unpacked_only', { source: request.source })
  const crateSource = named ?? beside
  const folders = (await readFolder(root))
    .filter(entry => entry.isDirectory())
    .map(entry => entry.name)
  return {
    kind: 'vendor',
    description: `a folder of \`cargo vendor\`; .crate files from ${crateSource.description}`,
    ownUrls: [],
    total: folders.length,
    async *crates() {
      for (const folder of folders.sort()) yield await readVendored(join(root, folder), crateSource)
    },
    close: async () => undefined,
  }
}

async function readVendored(where: string, crateSource: CrateSource): Promise<SourceCrate> {
  const text = await readText(join(where, '.cargo-checksum.json'))
  if (text === null) return { name: null, versions: [], refused: [] }
  try {
    const cksum = readChecksum(text)
    const manifest = (await readText(join(where, 'Cargo.toml'))) ?? ''
    const { name, version } = parseManifest(manifest)
    return {
      name,
      versions: [[releaseOf(where, { name, version, cksum }, crateSource)]],
      refused: [],
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { name: null, versions: [], refused: [{ where, reasons: error.issues }] }
  }
}

function releaseOf(
  where: string,
  wanted: { name: Name; version: Version; cksum: string },
  crateSource: CrateSource,
): SourceRelease {
  const { name, version, cksum } = wanted
  return {
    where,
    identity: { name, version },
    entry: null,
    cksum,
    take: use => crateSource.take(wanted, use),
  }
}

/** `package` is the checksum of the `.crate`; null for what came from git (Cargo's `vendor.rs`). */
function readChecksum(text: string): string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return refuse('import_vendor_checksum', { reason: 'it is not JSON' })
  }
  const cksum =
    typeof value === 'object' && value !== null && 'package' in value ? value.package : null
  if (cksum === null) throw new Refusal([issue('import_vendor_git')])
  if (typeof cksum === 'string' && /^[0-9a-f]{64}$/.test(cksum)) return cksum
  return refuse('import_vendor_checksum', { reason: '`package` is no checksum' })
}
