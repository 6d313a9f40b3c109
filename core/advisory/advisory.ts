// core/advisory: Known holes, as files of RustSec and OSV tell them. Records, pages and commands
// ask it which versions one covers; it never opens a file.
import { refuse } from '../error/error.ts'
import { isCratesIo, isIndexUrl } from '../index-url.ts'
import { canonicalName, isName, type Name } from '../name.ts'
import { isPubtime } from '../timestamp.ts'
import type { Version } from '../version.ts'
import { cvssScore, isCvss, SEVERITIES, type Severity, severityOfScore } from './cvss.ts'
import { isInRanges, type VersionRange } from './ranges.ts'

/** Budgets for files of strangers: bytes of a file, ranges and other items, characters. */
export const ADVISORY_BYTES = 64 * 1024
export const ADVISORIES_MAX = 50_000
export const ITEMS_MAX = 100
const TITLE_MAX = 200
const TEXT_MAX = 200

/** What is known of a hole in one package. An advisory on several packages is several of these. */
export interface Advisory {
  /** Such as `RUSTSEC-2021-0001`; it may become a path. */
  readonly id: string
  readonly package: Name
  /** The index URL of the registry that has the package; null for crates.io. */
  readonly source: string | null
  /** Without line breaks, control characters and those that change the direction of writing. */
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
 * Whether an advisory is about a package of the registry with these index URLs. A package of another
 * registry with the same name is another package.
 */
export function isAbout(
  { package: name, source }: Pick<Advisory, 'package' | 'source'>,
  wanted: string,
  origin: Iterable<string>,
): boolean {
  const isSame = canonicalName(name) === canonicalName(wanted)
  return isSame && Array.from(origin).some(index => isSameIndex(source, index))
}

function isSameIndex(source: string | null, index: string): boolean {
  if (source === null) return isCratesIo(index)
  const plain = (url: string) => url.replace(/^registry\+/, '').replace(/\/$/, '')
  return plain(source) === plain(index) || (isCratesIo(source) && isCratesIo(index))
}

/** Returns the label of the CVSS of an advisory; null where it has none that can be computed. */
export function labelOf({ cvss }: Pick<Advisory, 'cvss'>): Severity | null {
  const score = cvss === null ? null : cvssScore(cvss)
  return score === null ? null : severityOfScore(score)
}

/** Whether an advisory is as severe as `level`, or more; without a CVSS it counts as high. */
export function isAtLeast(advisory: Pick<Advisory, 'cvss'>, level: Severity): boolean {
  return SEVERITIES.indexOf(labelOf(advisory) ?? 'high') >= SEVERITIES.indexOf(level)
}

/** Whether a text is the id of an advisory: `NAME-YYYY-N…`, or one of GitHub's. */
export function isAdvisoryId(text: string): boolean {
  return /^(?:[A-Z][A-Z0-9]{0,31}-\d{4}-\d{1,19}|GHSA(?:-[0-9a-z]{4}){3})$/.test(text)
}

/** Whether a text is an id of the form that own advisories have. */
export function isOwnId(text: string): boolean {
  return isAdvisoryId(text) && /-\d{4}-\d{4,}$/.test(text)
}

/** Says what is wrong with a file that is to be an advisory. */
export function badAdvisory(reason: string): never {
  return refuse('advisory_invalid', { reason })
}

/** Returns a title for one line of a terminal or a page. */
export function cleanTitle(text: string): string {
  const line = text.replace(/[\p{C}\p{Zl}\p{Zp}\p{Bidi_Control}\s]+/gu, ' ').trim()
  return line.length > TITLE_MAX
    ? `${Array.from(line)
        .slice(0, TITLE_MAX - 1)
        .join('')}…`
    : line
}

/** Returns a text that all stores keep. */
export function storable(text: string): string {
  return text.replace(/\0|\p{Cs}/gu, '\uFFFD')
}

/** Keeps the items that have a form, each once. */
function only(items: readonly string[], isGood: (item: string) => boolean): string[] {
  return [...new Set(items)].filter(isGood).slice(0, ITEMS_MAX)
}

const isWord = (text: string) =>
  text.length <= TEXT_MAX && /^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(text)

function isLink(text: string): boolean {
  return text.length <= 2000 && /^https?:\/\/[\x21-\x7e]+$/.test(text) && URL.canParse(text)
}

/** Returns the times of an advisory by its dates, which may have no hour; refuses others. */
export function timeOf(text: string): string {
  const [, day, hour = '12:00:00'] =
    /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z)?$/.exec(text) ?? []
  const time = `${day}T${hour}Z`
  return !isPubtime(time) ? badAdvisory('`date` is no date such as 2026-01-31') : time
}

/** What a file says; `advisoryOf` takes from it what pages and paths can have. */
export type Told = Omit<Advisory, 'package'> & { readonly package: string }

/** Returns an advisory by what a file says. Refuses a wrong id, package, source or too much. */
export function advisoryOf(told: Told): Advisory {
  const { id, source, ranges, informational } = told
  if (!isAdvisoryId(id)) badAdvisory('`id` is none such as RUSTSEC-2021-0001')
  if (!isName(told.package)) badAdvisory('`package` is no name of a crate')
  if (source !== null && (source.length > 2000 || !isIndexUrl(source)))
    badAdvisory('`source` is no index URL, such as sparse+https://crates.example.com/index/')
  if (ranges.length > ITEMS_MAX) badAdvisory(`it has more than ${ITEMS_MAX} ranges of versions`)
  const title = cleanTitle(told.title)
  if (title === '') badAdvisory('it has no title')
  return {
    id,
    package: told.package,
    source: source !== null && isCratesIo(source) ? null : source,
    title,
    description: storable(told.description),
    published: timeOf(told.published),
    modified: timeOf(told.modified),
    informational: informational === null ? null : cleanTitle(informational).slice(0, 64),
    cvss: told.cvss !== null && isCvss(told.cvss) ? told.cvss : null,
    aliases: only(told.aliases, text =>
      /^[A-Za-z][A-Za-z0-9]{0,31}(-[A-Za-z0-9]{1,32}){1,5}$/.test(text),
    ),
    references: only(told.references, isLink),
    functions: only(told.functions, isWord),
    arch: only(told.arch, isWord),
    os: only(told.os, isWord),
    ranges,
  }
}
