// core/lock: What a `Cargo.lock` names. Export, upstreams and advisories call it; it opens no file.
import * as v from 'valibot'
import { refuse } from '../error/error.ts'
import { isName, type Name } from '../name.ts'
import { parseToml } from '../toml.ts'
import { isVersion, type Version } from '../version.ts'

/** The longest `Cargo.lock` that is read, in characters; 4,000 packages need a million. */
export const LOCK_MAX = 4 * 1024 * 1024

/** The newest version of the format that is known (Cargo's `encode.rs`). */
const NEWEST = 4

export interface LockedPackage {
  readonly name: Name
  readonly version: Version
  /** The index URL of its registry: with `sparse+`, without `registry+`. */
  readonly source: string
  /** SHA-256 of its `.crate` in lowercase hex; null where the file does not know it. */
  readonly checksum: string | null
}

/** The packages of a `Cargo.lock`, without those that are folders of this disk. */
export interface LockFile {
  readonly packages: readonly LockedPackage[]
  /** The names of packages from elsewhere, such as a git repository. */
  readonly others: readonly string[]
}

const CHECKSUM = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

const PACKAGE = v.object({
  name: v.string(),
  version: v.string(),
  source: v.optional(v.string()),
  checksum: v.optional(CHECKSUM),
  dependencies: v.optional(v.array(v.string()), []),
})

const SCHEMA = v.object({
  version: v.optional(v.number()),
  package: v.optional(v.array(PACKAGE), []),
  root: v.optional(PACKAGE),
  metadata: v.optional(v.record(v.string(), v.unknown()), {}),
})

/** A file, whose name is for messages. */
interface LockText {
  readonly name: string
  readonly text: string
}

/** Returns the packages of a `Cargo.lock` of version 1 to 4; refuses others, and a longer text. */
export function lockTables({ name: file, text }: LockText, max: number) {
  const object = (reason: string): never => refuse('lock_file_invalid', { file, reason })
  if (text.length > max) object(`it is longer than ${max} characters`)
  const document = parseToml(text, reason => object(`Invalid TOML document: ${reason}`))
  const result = v.safeParse(SCHEMA, document, { abortEarly: true })
  if (!result.success) {
    const [{ path, message }] = result.issues
    return object(`${path?.map(item => String(item.key)).join('.')}: ${message}`)
  }
  const { version: format = 1, package: packages, root, metadata } = result.output
  if (format > NEWEST) object(`its version is ${format}, and ${NEWEST} is the newest that is known`)
  // Before 2017, the package of the folder had a table of its own.
  const all = [...(root ? [root] : []), ...packages].map(each => {
    const { name, version, source } = each
    const [, kind = '', index = ''] = /^(registry\+|(?=sparse\+))(.+)$/.exec(source ?? '') ?? []
    if (index !== '' && !(isName(name) && isVersion(version)))
      object(`there is no package ${name} ${version}`)
    return { ...each, name: name as Name, version: version as Version, kind, index }
  })
  return { packages: all, metadata }
}

/**
 * Reads a `Cargo.lock` of version 1, which keeps checksums in a table of their own, to 4. Refuses a
 * newer one, a longer text than `LOCK_MAX`, and what Cargo would not have written.
 */
export function parseLockFile(file: LockText): LockFile {
  const { packages, metadata } = lockTables(file, LOCK_MAX)
  const others = packages.filter(({ source, index }) => source !== undefined && index === '')
  const locked = packages.filter(({ index }) => index !== '')
  return {
    packages: locked.map(({ name, version, kind, index, checksum }) => {
      const listed = metadata[`checksum ${name} ${version} (${kind}${index})`]
      const old = v.is(CHECKSUM, listed) ? listed : null
      return { name, version, source: index, checksum: checksum ?? old }
    }),
    others: others.map(({ name }) => name),
  }
}
