import { createReadStream } from 'node:fs'
import { basename, resolve } from 'node:path'
import { Refusal, refuse } from '../../../core/error/error.ts'
import { compareVersions, isVersion, type Version } from '../../../core/version.ts'
import { findCrates } from '../../places/disk/crate-files.ts'
import { fileChecksum } from '../../places/disk/files.ts'
import {
  type OpenedSource,
  type RefusedPart,
  refusalOfPart,
  refusedPart,
  type SourceRelease,
} from './source.ts'

interface Guess {
  readonly path: string
  readonly name: string
  readonly version: Version | null
}

/** Opens a folder of `.crate` files without an index: only their manifests describe them. */
export async function openLoose(source: string): Promise<OpenedSource> {
  const crates = new Map<string, Guess[]>()
  for (const path of await findCrates(resolve(source))) {
    const guess = guessOf(path)
    crates.set(guess.name, [...(crates.get(guess.name) ?? []), guess])
  }
  const groups = [...crates.values()].map(group => group.sort(compareGuesses))
  return {
    description: `.crate files in ${source}, without an index`,
    ownUrls: [],
    total: groups.length,
    async *crates() {
      for (const group of groups) {
        const versions: SourceRelease[][] = []
        const refused: RefusedPart[] = []
        for (const { path } of group) {
          const release = await releaseOf(path).catch(refusalOfPart)
          if (release instanceof Refusal) refused.push(refusedPart(path, release.issues))
          else versions.push([release])
        }
        yield { name: null, versions, refused }
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

/** Guesses name and version from a file name; only the order of the versions depends on it. */
function guessOf(path: string): Guess {
  const stem = basename(path, '.crate')
  const split = /^(.*?)-(\d+\..*)$/.exec(stem)
  const version = split?.[2] ?? ''
  return { path, name: split?.[1] ?? stem, version: isVersion(version) ? version : null }
}

function compareGuesses(a: Guess, b: Guess): number {
  if (a.version && b.version) return compareVersions(a.version, b.version)
  return Number(a.version === null) - Number(b.version === null)
}
