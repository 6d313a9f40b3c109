// core/advisory: Known holes, as files of RustSec and OSV tell them. Records, pages and commands
// ask it which versions one covers; it never opens a file.
import { refuse } from '../error/error.ts'
import { indexUrlKey, isCratesIo, isIndexUrl } from '../index-url.ts'
import { canonicalName, isName, type Name } from '../name.ts'
import { isAdvisoryId } from '../paths/tree.ts'
import { isPubtime } from '../timestamp.ts'
import type { Version } from '../version.ts'
import { cvssLabel, isCvss, SEVERITIES, type Severity } from './cvss.ts'
import { isInRanges, type VersionRange } from './ranges.ts'

/** The most ranges of versions, and other items, of an advisory. */
export const ITEMS_MAX = 100

/** What is known of a hole in one package. An advisory on several packages is several of these. */
export interface Advisory {
  /** Such as `RUSTSEC-2021-0001`; it may become a path. */
  readonly id: string
  readonly package: Name
  /** The index URL of the registry that has the package; null for crates.io. */
  readonly source: string | null
  /** At most 200 characters on a line, none of control or of the direction of writing. */
  readonly title: string
  /** Markdown of a stranger. */
  readonly description: string
  /** Times as in records. */
  readonly published: string
  readonly modified: string
  /** `unmaintained`, `unsound`, `notice` or another word; null for a vulnerability. */
  readonly informational: string | null
  readonly cvss: string | null
  readonly aliases: readonly string[]
  /** Addresses of the web, safe to link. */
  readonly references: readonly string[]
  readonly functions: readonly string[]
  readonly arch: readonly string[]
  readonly os: readonly string[]
  readonly ranges: readonly VersionRange[]
}

/** Whether an advisory is about a version of its package. */
export function covers({ ranges }: Pick<Advisory, 'ranges'>, version: Version): boolean {
  return isInRanges(ranges, version)
}

/**
 * Whether an advisory is about a package of the registry with these index URLs. A package of
 * another registry with the same name is another package.
 */
export function isAbout(
  { package: name, source }: Pick<Advisory, 'package' | 'source'>,
  wanted: string,
  origin: Iterable<string>,
): boolean {
  const key = (url: string) => indexUrlKey(url.replace(/^registry\+/, ''))
  const isOf = (index: string) => (source === null ? isCratesIo(index) : key(source) === key(index))
  return canonicalName(name) === canonicalName(wanted) && Array.from(origin).some(isOf)
}

/** Returns the label of the CVSS of an advisory; null where it has none that can be computed. */
export function labelOf({ cvss }: Pick<Advisory, 'cvss'>): Severity | null {
  return cvss === null ? null : cvssLabel(cvss)
}

/** Returns what a line says of an advisory: its kind, its severity, or why it has none. */
export function wordOf(advisory: Pick<Advisory, 'cvss' | 'informational'>): string {
  const none = advisory.cvss === null ? 'no CVSS' : 'CVSS 4, counts as high'
  return advisory.informational ?? labelOf(advisory) ?? none
}

/** Whether an advisory is as severe as `level`, or more; without a CVSS it counts as high. */
export function isAtLeast(advisory: Pick<Advisory, 'cvss'>, level: Severity): boolean {
  return SEVERITIES.indexOf(labelOf(advisory) ?? 'high') >= SEVERITIES.indexOf(level)
}

/** Says what is wrong with a file that is to be an advisory. */
export function badAdvisory(reason: string): never {
  return refuse('advisory_invalid', { reason })
}

const lineOf = (text: string) =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}\p{Bidi_Control}\s]+/gu, ' ').trim()

/** What items look like, so that they can be links, lines and parts of paths. */
const ALIAS = /^[A-Za-z][A-Za-z0-9]{0,31}(?:-[A-Za-z0-9]{1,32}){1,5}$/
const LINK = /^https?:\/\/[\x21-\x7e]{1,2000}$/
const WORD = /^[\x21-\x7e][\x20-\x7e]{0,199}$/

function only(items: readonly string[], form: RegExp): string[] {
  return [...new Set(items)].filter(item => form.test(item)).slice(0, ITEMS_MAX)
}

function timeOf(text: string): string {
  const [, day, hour = '12:00:00'] =
    /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z)?$/.exec(text) ?? []
  const time = `${day}T${hour}Z`
  return isPubtime(time) ? time : badAdvisory('`date` is no date such as 2026-01-31')
}

/**
 * Returns an advisory by what a file says, without items that no link, line or path can have.
 * Refuses a wrong id, package, source or date, and more than 100 ranges.
 */
export function advisoryOf(
  told: { [K in keyof Advisory]: K extends 'package' ? string : Advisory[K] },
): Advisory {
  const { id, package: name, source, ranges, informational, cvss } = told
  if (!isAdvisoryId(id)) badAdvisory('`id` is none such as RUSTSEC-2021-0001')
  if (!isName(name)) return badAdvisory('`package` is no name of a crate')
  if (source !== null && (source.length > 2000 || !isIndexUrl(source)))
    badAdvisory('`source` is no index URL, such as sparse+https://crates.example.com/index/')
  if (ranges.length > ITEMS_MAX) badAdvisory(`it has more than ${ITEMS_MAX} ranges of versions`)
  const title = Array.from(lineOf(told.title)).slice(0, 200).join('')
  return {
    ...{ id, package: name, source: source !== null && isCratesIo(source) ? null : source },
    title: title || badAdvisory('it has no title'),
    description: told.description.replace(/\0|\p{Cs}/gu, '\uFFFD'),
    published: timeOf(told.published),
    modified: timeOf(told.modified),
    informational: informational && lineOf(informational).slice(0, 64),
    cvss: cvss !== null && isCvss(cvss) ? cvss : null,
    aliases: only(told.aliases, ALIAS),
    references: only(told.references, LINK).filter(url => URL.canParse(url)),
    functions: only(told.functions, WORD),
    arch: only(told.arch, WORD),
    os: only(told.os, WORD),
    ranges,
  }
}
