import { basename, join, resolve } from 'node:path'
import { Refusal, refuse } from '../../../core/error/error.ts'
import { parseManifest } from '../../../core/manifest/parse.ts'
import { jsonIn } from '../../../core/plain-data.ts'
import { compareVersions, isVersion } from '../../../core/version.ts'
import { findCrates, unreadable } from '../../places/disk/crate-files.ts'
import {
  fileBytes,
  fileChecksum,
  fileStats,
  readFolder,
  readText,
} from '../../places/disk/files.ts'
import type { Web } from '../../web/web.ts'
import { type CrateSource, folderCrates, namedCrates, releaseIn } from './crate-sources.ts'
import {
  CRATE_MAX,
  type ImportRequest,
  type OpenedSource,
  refusalOfPart,
  refusedCrate,
  type SourceCrate,
  type SourceRelease,
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

/** Opens a folder of `.crate` files without an index: only their manifests describe them. */
export async function openLoose(source: string): Promise<OpenedSource> {
  const paths = (await findCrates(resolve(source))).sort(byGuess)
  return {
    description: `.crate files in ${source}, without an index`,
    ownUrls: [],
    total: paths.length,
    async *crates() {
      for (const path of paths) {
        const release = await releaseOf(path).catch(refusalOfPart)
        if (release instanceof Refusal) yield refusedCrate(path, release.issues)
        else yield { name: null, versions: [[release]], refused: [] }
      }
    },
  }
}

async function releaseOf(path: string): Promise<SourceRelease> {
  const problem = await unreadable(path)
  if (problem) throw new Refusal([problem])
  const { size = 0 } = (await fileStats(path)) ?? {}
  if (size > CRATE_MAX) refuse('import_too_long', { what: path, max: CRATE_MAX })
  const cksum = await fileChecksum(path)
  if (cksum === null) return refuse('file_missing', { path })
  const take: SourceRelease['take'] = use => use(fileBytes(path))
  return { where: path, identity: null, entry: null, cksum, take }
}

/** Compares what file names seem to say; only the order of versions depends on it. */
function byGuess(a: string, b: string): number {
  const [[name, version], [otherName, otherVersion]] = [guess(a), guess(b)]
  if (name !== otherName) return name < otherName ? -1 : 1
  if (version && otherVersion) return compareVersions(version, otherVersion)
  return Number(version === null) - Number(otherVersion === null)
}

function guess(path: string) {
  const stem = basename(path, '.crate')
  const [, name = stem, version = ''] = /^(.*?)-(\d+\..*)$/.exec(stem) ?? []
  return [name, isVersion(version) ? version : null] as const
}
