import type { Name } from '../../core/name.ts'
import { type Output, output } from '../../core/output.ts'
import { CRATES_FOLDER, crateFeedPath, crateFilePath } from '../../core/paths/crates.ts'
import { newCratesPath, updatesPath } from '../../core/paths/pages.ts'
import type { Version } from '../../core/version.ts'
import type { CrateFacts } from './crate-record.ts'

/** Most entries of a feed: of a crate's versions, of new crates, of new versions. */
export const FEED_LENGTH = { crate: 50, crates: 50, updates: 100 } as const

/** The registry in a feed. */
export interface FeedSite {
  /** Without a slash at the end. */
  readonly base: string
  readonly title: string
}

/** A published version in a feed. */
export interface FeedRelease {
  readonly name: Name
  readonly version: Version
  readonly yanked: boolean
  readonly description: string | null
  readonly publishedAt: string
  readonly publishedBy: string | null
}

/** A new crate in a feed. */
export interface FeedCrate {
  readonly name: Name
  readonly description: string | null
  readonly createdAt: string
}

interface FeedEntry {
  /** URL that is this entry's for good; below the base. */
  readonly id: string
  readonly title: string
  /** Page about it; below the base. */
  readonly page: string
  readonly at: string
  readonly author: string | null
  readonly summary: string | null
}

/** The newest versions of one crate. Versions of unknown time are in no feed. */
export function renderCrateFeed(site: FeedSite, crate: CrateFacts): Output {
  const timed = crate.releases.flatMap(one =>
    one.publishedAt === null
      ? []
      : [
          {
            ...one,
            name: crate.name,
            description: one.about.description,
            publishedAt: one.publishedAt,
          },
        ],
  )
  // Equal times: what came later is the newer one.
  const newest = timed
    .reverse()
    .sort((a, b) => (a.publishedAt < b.publishedAt ? 1 : a.publishedAt > b.publishedAt ? -1 : 0))
  const entries = newest.slice(0, FEED_LENGTH.crate).map(releaseEntry)
  return renderFeed(
    site,
    crateFeedPath(crate.name),
    `${crate.name} – ${site.title}`,
    cratePage(crate.name),
    entries,
  )
}

/** Crates published for the first time, newest first. */
export function renderNewCrates(site: FeedSite, crates: readonly FeedCrate[]): Output {
  const entries = crates.map(crate => ({
    id: cratePage(crate.name),
    title: crate.name,
    page: cratePage(crate.name),
    at: crate.createdAt,
    author: null,
    summary: crate.description,
  }))
  return renderFeed(site, newCratesPath, `New crates – ${site.title}`, '', entries)
}

/** All versions, newest first. */
export function renderUpdates(site: FeedSite, releases: readonly FeedRelease[]): Output {
  return renderFeed(site, updatesPath, `Updates – ${site.title}`, '', releases.map(releaseEntry))
}

function releaseEntry(release: FeedRelease): FeedEntry {
  const { name, version, yanked } = release
  return {
    id: crateFilePath(name, version),
    title: `${name} ${version}${yanked ? ' (yanked)' : ''}`,
    page: cratePage(name),
    at: release.publishedAt,
    author: release.publishedBy,
    summary: release.description,
  }
}

function cratePage(name: Name): string {
  return `${CRATES_FOLDER}/${name}/`
}

/**
 * An Atom feed (RFC 4287 §4.1): depends on its entries alone, so equal catalogs make equal bytes.
 */
function renderFeed(
  site: FeedSite,
  path: string,
  title: string,
  page: string,
  entries: readonly FeedEntry[],
): Output {
  const url = (below: string) => xml(`${site.base}/${below}`)
  const updated =
    entries
      .map(one => one.at)
      .sort()
      .at(-1) ?? '1970-01-01T00:00:00Z'
  const lines = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>${url(path)}</id>`,
    `<title>${xml(title)}</title>`,
    `<updated>${updated}</updated>`,
    `<author><name>${xml(site.title)}</name></author>`,
    `<link rel="self" type="application/atom+xml" href="${url(path)}"/>`,
    `<link rel="alternate" type="text/html" href="${url(page)}"/>`,
    ...entries.flatMap(one => [
      '<entry>',
      `<id>${url(one.id)}</id>`,
      `<title>${xml(one.title)}</title>`,
      `<updated>${one.at}</updated>`,
      `<published>${one.at}</published>`,
      ...(one.author === null ? [] : [`<author><name>${xml(one.author)}</name></author>`]),
      `<link rel="alternate" type="text/html" href="${url(one.page)}"/>`,
      ...(one.summary === null ? [] : [`<summary>${xml(one.summary)}</summary>`]),
      '</entry>',
    ]),
    '</feed>',
  ]
  return output(path, `${lines.join('\n')}\n`)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

/** Text as XML content or attribute, without characters that XML 1.0 §2.2 excludes. */
function xml(text: string): string {
  return (
    text
      // Halves of surrogate pairs are no characters.
      .replace(/\p{Cs}/gu, '\ufffd')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
      .replace(/[&<>"]/g, character => ENTITIES[character] ?? character)
  )
}
