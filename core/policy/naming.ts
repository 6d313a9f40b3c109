import { type Issue, issue } from '../error/error.ts'
import type { CanonicalName, Name } from '../name.ts'
import { canonicalName, isName } from '../name.ts'
import type { PolicySettings } from '../settings/settings.ts'
import type { Version } from '../version.ts'
import { looksAlike } from './look-alike.ts'
import { weigh } from './verdict.ts'

/** The names that crates.io reserves: parts of Rust (its migration of 2017). */
const RUST = `
  alloc arena ast builtins collections compiler-builtins compiler-rt compiletest core coretest
  debug driver flate fmt_macros grammar graphviz macro macros proc_macro rbml rust-installer
  rustbook rustc rustc_back rustc_borrowck rustc_driver rustc_llvm rustc_resolve rustc_trans
  rustc_typeck rustdoc rustllvm rustuv serialize std syntax test unicode`

/** Windows devices; Windows cannot create a folder with such a name (specification A.2). */
const DEVICES = [
  'nul',
  'con',
  'prn',
  'aux',
  ...[...'0123456789'].flatMap(digit => [`com${digit}`, `lpt${digit}`]),
]

const RESERVED: ReadonlySet<CanonicalName> = new Set(
  [...RUST.trim().split(/\s+/), ...DEVICES].filter(isName).map(canonicalName),
)

/** Compares the name of a new crate with reserved and existing names. */
export function checkNaming(
  name: Name,
  facts: {
    readonly existing: { readonly name: Name } | null
    readonly lookAlikes: readonly Name[]
  },
  policy: PolicySettings,
): Issue[] {
  // The catalog checks the spelling of an existing name.
  if (facts.existing) return []
  const issues: Issue[] = []
  if (name.length > policy.name_max)
    issues.push(issue('name_too_long', { name, max: policy.name_max }))
  if (isReserved(name, policy))
    issues.push(...weigh(policy.reserved_names, issue('name_reserved', { name })))
  const others = facts.lookAlikes.filter(other => looksAlike(name, other))
  if (others.length > 0) {
    issues.push(
      ...weigh(policy.look_alikes, issue('name_looks_alike', { name, others: others.slice(0, 3) })),
    )
  }
  return issues
}

/** crates.io's limit keeps a version usable in keys and headers. */
export function checkVersion(version: Version, policy: PolicySettings): Issue[] {
  if (version.length <= policy.version_max) return []
  const shown = version
  return [
    issue('version_too_long', { version: shown, length: version.length, max: policy.version_max }),
  ]
}

function isReserved(name: Name, policy: PolicySettings): boolean {
  const canonical = canonicalName(name)
  const extra = policy.reserved_names_extra.filter(isName).map(canonicalName)
  return RESERVED.has(canonical) || extra.includes(canonical)
}
