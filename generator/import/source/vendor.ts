import { join, resolve } from 'node:path'
import { Refusal, refuse } from '../../../core/error/error.ts'
import { parseManifest } from '../../../core/manifest/parse.ts'
import { jsonIn } from '../../../core/urls/index-config.ts'
import { readFolder, readText } from '../../places/disk/files.ts'
import type { Web } from '../../web/web.ts'
import { type CrateSource, folderCrates, namedCrates, releaseIn } from './crate-sources.ts'
import {
  type ImportRequest,
  type OpenedSource,
  refusalOfPart,
  refusedCrate,
  type SourceCrate,
} from './source.ts'

/** Opens a folder of `cargo vendor`: unpacked sources and the checksums of their `.crate` files. */
export async function openVendor(request: ImportRequest, web: Web): Promise<OpenedSource> {
  const root = resolve(request.source)
  const beside = folderCrates(root, null)
  const named = namedCrates(request, web)
  // Unpacked sources could be packed again, but not to the bytes whose checksums are in lock files.
  if (!named && (await beside.isEmpty())) refuse('import_unpacked_only', { source: request.source })
  const crates = named ?? beside
  const folders = (await readFolder(root)).filter(entry => entry.isDirectory())
  const paths = folders.map(({ name }) => join(root, name)).sort()
  return {
    description: `a folder of \`cargo vendor\`; .crate files from ${crates.description}`,
    ownUrls: [],
    total: paths.length,
    async *crates() {
      for (const path of paths) {
        const crate = await readVendored(path, crates).catch(refusalOfPart)
        yield crate instanceof Refusal ? refusedCrate(path, crate.issues) : crate
      }
    },
  }
}

async function readVendored(where: string, crates: CrateSource): Promise<SourceCrate> {
  const text = await readText(join(where, '.cargo-checksum.json'))
  if (text === null) return { name: null, versions: [], refused: [] }
  const value = jsonIn(text)
  if (value === undefined) refuse('import_vendor_checksum', { reason: 'it is not JSON' })
  // The checksum of the `.crate`, null for git (Cargo's `vendor.rs`).
  const { package: cksum = null } = Object(value)
  if (cksum === null) refuse('import_vendor_git')
  if (typeof cksum !== 'string' || !/^[0-9a-f]{64}$/.test(cksum))
    return refuse('import_vendor_checksum', { reason: '`package` is not a checksum' })
  const manifest = (await readText(join(where, 'Cargo.toml'))) ?? ''
  const { name, version } = parseManifest(manifest)
  const release = releaseIn(crates, where, { name, version, cksum }, null)
  return { name, versions: [[release]], refused: [] }
}
