import { type Issue, issue } from '../error/error.ts'
import type { About } from '../manifest/manifest.ts'
import type { PolicySettings } from '../settings/settings.ts'
import { isLicenseExpression } from './license.ts'
import { weigh } from './verdict.ts'

/** crates.io's rules on the fields that describe a crate (`controllers/krate/publish.rs`). */
export function checkPresentation(about: About, policy: PolicySettings): Issue[] {
  return [
    ...checkDescription(about, policy),
    ...checkLicense(about, policy),
    ...checkUrls(about, policy),
    ...checkKeywords(about.keywords, policy),
    ...checkCategories(about.categories, policy),
  ]
}

/** The categories that are not on the registry's list, if it has one. */
export function unknownCategories(
  categories: readonly string[],
  policy: PolicySettings,
): readonly string[] {
  if (policy.categories.length === 0 || policy.unknown_category === 'off') return []
  return [...new Set(categories)].filter(slug => !policy.categories.includes(slug))
}

/** The badges that are not on the registry's list, if it has one. */
export function unknownBadges(
  badges: Readonly<Record<string, unknown>>,
  policy: PolicySettings,
): readonly string[] {
  if (policy.badges.length === 0) return []
  return Object.keys(badges).filter(name => !policy.badges.includes(name))
}

function checkDescription({ description }: About, policy: PolicySettings): Issue[] {
  if (isBlank(description)) return weigh(policy.description, issue('description_missing'))
  const bytes = Buffer.byteLength(description ?? '')
  if (bytes <= policy.description_max) return []
  return [issue('description_too_long', { bytes, max: policy.description_max })]
}

function checkLicense({ license, license_file }: About, policy: PolicySettings): Issue[] {
  if (isBlank(license))
    return isBlank(license_file) ? weigh(policy.license, issue('license_missing')) : []
  if (isLicenseExpression(license ?? '')) return []
  return weigh(policy.license_expression, issue('license_invalid', { license: license ?? '' }))
}

function checkUrls(about: About, policy: PolicySettings): Issue[] {
  return (['homepage', 'documentation', 'repository'] as const).flatMap(field => {
    const url = about[field]
    if (url === null || url === '' || isWebUrl(url)) return []
    return weigh(policy.url_rules, issue('url_invalid', { field, url: url }))
  })
}

function checkKeywords(keywords: readonly string[], policy: PolicySettings): Issue[] {
  const max = policy.keywords_max
  if (keywords.length > max) return [issue('keywords_too_many', { count: keywords.length, max })]
  return keywords.flatMap(keyword => {
    const shown = keyword
    const length = policy.keyword_length_max
    return [
      ...([...keyword].length > length
        ? [issue('keyword_too_long', { keyword: shown, max: length })]
        : []),
      ...(/^[A-Za-z0-9][A-Za-z0-9_+-]*$/.test(keyword)
        ? []
        : weigh(policy.keyword_rule, issue('keyword_invalid', { keyword: shown }))),
    ]
  })
}

function checkCategories(categories: readonly string[], policy: PolicySettings): Issue[] {
  const max = policy.categories_max
  if (categories.length > max)
    return [issue('categories_too_many', { count: categories.length, max })]
  // Warnings have their own field in the answer to a publish.
  if (policy.unknown_category !== 'error') return []
  return unknownCategories(categories, policy).map(slug =>
    issue('category_unknown', { category: slug }),
  )
}

/** Checks the raw text, because `new URL` trims and repairs. */
function isWebUrl(url: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}]+$/u.test(url) && URL.canParse(url)
}

function isBlank(text: string | null): boolean {
  return text === null || text.trim() === ''
}
