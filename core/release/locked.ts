import { type Issue, warning } from '../error/error.ts'
import { indexUrlKey, isIndexUrl } from '../index-url.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { isName } from '../name.ts'
import type { ArchiveFile, ArchiveLimits, Open } from '../tarball/read.ts'
import { readText } from '../tarball/recover.ts'
import { isVersion } from '../version.ts'

const LOCK = 'Cargo.lock'
/** The longest packaged `Cargo.lock` that is read, in bytes, and the most packages of one. */
const LOCK_BYTES = 1024 * 1024
const PACKAGES_MAX = 2000

const PROGRAM = /^(?:src\/main\.rs|(?:src\/bin|examples)\/[^/]+(?:\.rs|\/main\.rs))$/

/** As Cargo packages it: always in one form, so that no TOML of strangers is parsed. */
const PACKAGE =
  /^\[\[package\]\]\r?\nname = "([\w-]+)"\r?\nversion = "([^"\s]+)"\r?\nsource = "(?:registry\+|(?=sparse\+))([^"\s]+)"/gm

/** What a packaged `Cargo.lock` names: `NAME VERSION` of each registry, null for this one. */
export type Locked = readonly (readonly [registry: string | null, packages: readonly string[]])[]

/** What a `Cargo.lock` is read from; `own` are the URLs of this registry. */
interface LockParts {
  readonly manifest: Pick<Manifest, 'targets'>
  readonly files: readonly ArchiveFile[]
  readonly limits: ArchiveLimits
  readonly own: Iterable<string>
  /** `last` where several may have its path. */
  readonly which: 'only' | 'last'
}

/**
 * Returns the packages of registries that the `Cargo.lock` of a package with a program or an
 * example names: Cargo uses no other. None, with a warning, where that has more than 1 MiB or
 * 2,000 packages.
 */
export async function readLocked(
  open: Open,
  { manifest: { targets }, files, limits, own, which }: LockParts,
  issues: Issue[],
): Promise<Locked> {
  const isProgram =
    targets.bins.length > 0 || targets.hasExamples || files.some(({ path }) => PROGRAM.test(path))
  const file = files.find(({ path }) => path === LOCK)
  if (!isProgram || !file) return []
  const keys = new Set(Array.from(own, indexUrlKey))
  const found = new Map<string | null, string[]>()
  const text = await readText(open, LOCK, LOCK_BYTES, limits, which)
  let count = file.size > LOCK_BYTES ? Number.POSITIVE_INFINITY : 0
  for (const [, name = '', version = '', index = ''] of text?.matchAll(PACKAGE) ?? []) {
    if (!isName(name) || !isVersion(version) || !isIndexUrl(index)) continue
    if (++count > PACKAGES_MAX) break
    const registry = keys.has(indexUrlKey(index)) ? null : index
    const packages = found.get(registry) ?? []
    found.set(registry, packages)
    packages.push(`${name} ${version}`)
  }
  if (count <= PACKAGES_MAX) return [...found]
  issues.push(warning('lock_large', { max: LOCK_BYTES, packages: PACKAGES_MAX }))
  return []
}
