import parse from 'spdx-expression-parse'
import { CRATES_IO_CATEGORIES } from '../category.ts'
import type { Features } from '../entry/entry.ts'
import { type Issue, issue, warning } from '../error/error.ts'
import type { About } from '../manifest/manifest.ts'
import { type CanonicalName, canonicalName, isName, type Name } from '../name.ts'
import type { Level } from '../settings/kind.ts'
import type { PolicySettings } from '../settings/settings.ts'
import { hasBidiControls } from '../text.ts'
import type { Version } from '../version.ts'
import { looksAlike } from './look-alike.ts'

/** Returns the error with the severity of its rule; nothing if the rule is off. */
export function weigh(level: Level, error: Issue): Issue[] {
  if (level === 'off') return []
  return [{ ...error, severity: level === 'error' ? 'error' : 'warning' }]
}

/** Names that crates.io reserves because they are parts of Rust (its migration of 2017). */
const RUST = `
  alloc arena ast builtins collections compiler-builtins compiler-rt compiletest core coretest
  debug driver flate fmt_macros grammar graphviz macro macros proc_macro rbml rust-installer
  rustbook rustc rustc_back rustc_borrowck rustc_driver rustc_llvm rustc_resolve rustc_trans
  rustc_typeck rustdoc rustllvm rustuv serialize std syntax test unicode`

/** Windows devices: Windows cannot create a folder with such a name (specification A.2). */
const DEVICES = [
  ...['nul', 'con', 'prn', 'aux'],
  ...[...'0123456789'].flatMap(digit => [`com${digit}`, `lpt${digit}`]),
]

const RESERVED: ReadonlySet<CanonicalName> = new Set(
  [...RUST.trim().split(/\s+/), ...DEVICES].map(canonicalName),
)

/** Compares the name of a new crate with reserved and existing names. */
export function checkName(name: Name, lookAlikes: readonly Name[], policy: PolicySettings) {
  const issues: Issue[] = []
  const max = policy.name_max
  if (name.length > max) issues.push(issue('name_too_long', { name, max }))
  const canonical = canonicalName(name)
  const extra = policy.reserved_names_extra.filter(isName).map(canonicalName)
  if (RESERVED.has(canonical) || extra.includes(canonical))
    issues.push(...weigh(policy.reserved_names, issue('name_reserved', { name })))
  const others = lookAlikes.filter(other => looksAlike(name, other)).slice(0, 3)
  if (others.length > 0)
    issues.push(...weigh(policy.look_alikes, issue('name_looks_alike', { name, others })))
  return issues
}

/** crates.io's limit keeps a version usable in keys and headers. */
export function checkVersion(version: Version, policy: PolicySettings): Issue[] {
  const [{ length }, max] = [version, policy.version_max]
  return length > max ? [issue('version_too_long', { version, length, max })] : []
}

/** Checks how many features there are, and how many items each of them enables. */
export function checkFeatureLimits(features: Features, policy: PolicySettings): Issue[] {
  const all = Object.entries(features)
  const { features_max: max, feature_items_max: itemsMax } = policy
  if (all.length > max) return [issue('features_too_many', { count: all.length, max })]
  return all
    .filter(([, items]) => items.length > itemsMax)
    .map(([feature, { length: count }]) =>
      issue('feature_items_too_many', { feature, count, max: itemsMax }),
    )
}

/** Applies crates.io's rules for descriptive fields (`controllers/krate/publish.rs`). */
export function checkAbout(about: About, policy: PolicySettings): Issue[] {
  return [
    ...checkDescription(about.description ?? '', policy),
    ...checkLicense(about.license ?? '', about.license_file ?? '', policy),
    ...(['homepage', 'documentation', 'repository'] as const).flatMap(field => {
      const url = about[field]
      if (url === null || url === '' || isWebUrl(url)) return []
      return weigh(policy.url_rules, issue('url_invalid', { field, url }))
    }),
    ...checkKeywords(about.keywords, policy),
    ...checkCategories(about.categories, policy),
  ]
}

/** Returns the categories that are not on the registry's list, if it has one. */
export function unknownCategories(
  categories: readonly string[],
  policy: Pick<PolicySettings, 'categories'>,
): string[] {
  if (policy.categories.length * categories.length === 0) return []
  const accepted = new Set(
    policy.categories.flatMap(slug => (slug === 'crates-io' ? CRATES_IO_CATEGORIES : slug)),
  )
  return [...new Set(categories)].filter(slug => !accepted.has(slug))
}

function checkDescription(description: string, policy: PolicySettings): Issue[] {
  if (description.trim() === '') return weigh(policy.description, issue('description_missing'))
  const [bytes, max] = [Buffer.byteLength(description), policy.description_max]
  return [
    ...(bytes > max ? [issue('description_too_long', { bytes, max })] : []),
    ...(hasBidiControls(description) ? [warning('description_bidi')] : []),
  ]
}

function checkLicense(license: string, file: string, policy: PolicySettings): Issue[] {
  if (license.trim() === '')
    return file.trim() === '' ? weigh(policy.license, issue('license_missing')) : []
  if (isLicenseExpression(license)) return []
  return weigh(policy.license_expression, issue('license_invalid', { license }))
}

/** Whether crates.io accepts an SPDX expression; it also takes `/` for `OR` and old identifiers. */
function isLicenseExpression(text: string): boolean {
  // The parser is recursive, and skips unknown characters.
  if (text.length > 1000 || !/^[A-Za-z0-9.+:()/ -]+$/.test(text)) return false
  try {
    parse(text.replaceAll('/', ' OR '))
    return true
  } catch {
    // The parser throws for invalid text, sometimes a TypeError.
    return false
  }
}

function checkKeywords(keywords: readonly string[], policy: PolicySettings): Issue[] {
  const { keywords_max: most, keyword_length_max: max } = policy
  const { length: count } = keywords
  const tooMany = count > most ? [issue('keywords_too_many', { count, max: most })] : []
  const rest = keywords
    .slice(0, most)
    .flatMap(keyword => [
      ...([...keyword].length > max ? [issue('keyword_too_long', { keyword, max })] : []),
      ...(/^[A-Za-z0-9][A-Za-z0-9_+-]*$/.test(keyword)
        ? []
        : weigh(policy.keyword_rule, issue('keyword_invalid', { keyword }))),
    ])
  return [...tooMany, ...rest]
}

function checkCategories(categories: readonly string[], policy: PolicySettings): Issue[] {
  const [count, max] = [categories.length, policy.categories_max]
  const tooMany = count > max ? [issue('categories_too_many', { count, max })] : []
  const rest = unknownCategories(categories.slice(0, max), policy).flatMap(category =>
    weigh(policy.unknown_category, issue('category_unknown', { category })),
  )
  return [...tooMany, ...rest]
}

/** Checks the raw text, because `new URL` trims and repairs it. */
function isWebUrl(url: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}]+$/u.test(url) && URL.canParse(url)
}
