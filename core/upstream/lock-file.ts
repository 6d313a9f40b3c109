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

const SCHEMA = v.object({
  version: v.optional(v.number()),
  package: v.optional(
    v.array(
      v.object({
        name: v.string(),
        version: v.string(),
        source: v.optional(v.string()),
        checksum: v.optional(CHECKSUM),
      }),
    ),
    [],
  ),
  metadata: v.optional(v.record(v.string(), v.unknown()), {}),
})

/**
 * Reads a `Cargo.lock` of version 1, which keeps checksums in a table of their own, to 4. Refuses a
 * newer one, a longer text than `LOCK_MAX`, and what Cargo would not have written; `name` is for
 * messages.
 */
export function parseLockFile({ name: file, text }: { name: string; text: string }): LockFile {
  const object = (reason: string): never => refuse('lock_file_invalid', { file, reason })
  if (text.length > LOCK_MAX) object(`it is longer than ${LOCK_MAX} characters`)
  const document = parseToml(text, reason => object(`Invalid TOML document: ${reason}`))
  const result = v.safeParse(SCHEMA, document, { abortEarly: true })
  if (!result.success) {
    const [{ path, message }] = result.issues
    return object(`${path?.map(item => String(item.key)).join('.')}: ${message}`)
  }
  const { version: format = 1, package: packages, metadata } = result.output
  if (format > NEWEST) object(`its version is ${format}, and ${NEWEST} is the newest that is known`)
  const locked: LockedPackage[] = []
  const others: string[] = []
  for (const { name, version, source, checksum } of packages) {
    const [, kind = '', index = ''] = /^(registry\+|(?=sparse\+))(.+)$/.exec(source ?? '') ?? []
    if (source === undefined) continue
    if (index === '') others.push(name)
    else if (!isName(name) || !isVersion(version)) object(`there is no package ${name} ${version}`)
    else {
      const listed = metadata[`checksum ${name} ${version} (${kind}${index})`]
      const old = v.is(CHECKSUM, listed) ? listed : null
      locked.push({ name, version, source: index, checksum: checksum ?? old })
    }
  }
  return { packages: locked, others }
}
