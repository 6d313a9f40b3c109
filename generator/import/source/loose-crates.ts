import { createReadStream } from 'node:fs'
import { basename, resolve } from 'node:path'
import { Refusal, refuse } from '../../../core/error/error.ts'
import { compareVersions, isVersion } from '../../../core/version.ts'
import { findCrates } from '../../places/disk/crate-files.ts'
import { fileChecksum } from '../../places/disk/files.ts'
import { type OpenedSource, refusalOfPart, refusedCrate, type SourceRelease } from './source.ts'

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
  const cksum = await fileChecksum(path)
  if (cksum === null) return refuse('file_missing', { path })
  const take: SourceRelease['take'] = use => use(createReadStream(path))
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
