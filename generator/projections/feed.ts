import { type Advisory, covers } from '../../core/advisory/advisory.ts'
import { compareText } from '../../core/entry/entry.ts'
import type { Name } from '../../core/name.ts'
import { deprecationText } from '../../core/notes/notes.ts'
import { CRATES_FOLDER, crateFeedPath, crateFilePath } from '../../core/paths/crates.ts'
import { newCratesPath, type Output, output, updatesPath } from '../../core/paths/tree.ts'
import { isolated } from '../../core/text.ts'
import { html, raw } from '../../site/elements/markup.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import type { CrateCard } from '../records/pages/cards.ts'
import type { RecentRelease } from '../records/releases.ts'

/** Maximum entries of each feed: a crate's versions, new crates, all new versions. */
export const FEED_LENGTH = { crate: 50, crates: 50, updates: 100 } as const

type ShownRelease = Omit<RecentRelease, 'name' | 'publishedAt'>

export interface FeedEntry {
  /** Permanent URL of this entry, below the base. */
  readonly id: string
  readonly page: string
  readonly title: string
  readonly at: string
  readonly author: string | null
  readonly summary: string | null
}

/**
 * Renders the feed of a crate's newest versions, and of the advisories on it. Feeds omit versions
 * of unknown time.
 */
export function renderCrateFeed(
  site: SiteConfig,
  name: Name,
  releases: readonly (ShownRelease & { readonly publishedAt: string | null })[],
  advisories: readonly Advisory[] = [],
): Output {
  const timed = releases.flatMap(release =>
    release.publishedAt === null ? [] : { ...release, name, publishedAt: release.publishedAt },
  )
  const holes = advisories.map(({ id, title, modified: at, ranges }) => {
    const page = cratePage(name)
    const covered = releases.filter(({ version }) => covers({ ranges }, version))
    const summary = `Covers ${covered.map(({ version }) => version).join(', ')}`
    return { id: `${page}#${id}`, page, title: `${id}: ${title}`, at, author: null, summary }
  })
  // A later publish is newer where times are equal.
  const newest = timed.reverse().sort((a, b) => compareText(b.publishedAt, a.publishedAt))
  const shown = newest.slice(0, FEED_LENGTH.crate).map(release => releaseEntry(site, release))
  const entries = [...shown, ...holes]
    .sort((a, b) => compareText(b.at, a.at))
    .slice(0, FEED_LENGTH.crate)
  return renderFeed(site, crateFeedPath(name), name, cratePage(name), entries)
}

/** Renders the feed of crates published for the first time, newest first. */
export function renderNewCrates(site: SiteConfig, crates: readonly CrateCard[]): Output {
  const entries = crates.map(({ name, createdAt: at, about }) => {
    const page = cratePage(name)
    return { id: page, page, title: name, at, author: null, summary: about.description }
  })
  return renderFeed(site, newCratesPath, 'New crates', '', entries)
}

/** Renders the feed of all versions, newest first. */
export function renderUpdates(site: SiteConfig, releases: readonly RecentRelease[]): Output {
  const entries = releases.map(release => releaseEntry(site, release))
  return renderFeed(site, updatesPath, 'Updates', '', entries)
}

function releaseEntry({ owners }: SiteConfig, release: RecentRelease): FeedEntry {
  const { name, version, yanked, yankReason, deprecation } = release
  const { description } = release.about
  const why = yankReason === null ? 'yanked' : `yanked: ${yankReason}`
  const about = description === null ? null : isolated(description)
  const lines = [yanked ? why : null, deprecation && deprecationText(deprecation), about]
  return {
    id: crateFilePath(name, version),
    page: `${cratePage(name)}${version}/`,
    title: `${name} ${version}${yanked ? ' (yanked)' : ''}${deprecation ? ' (deprecated)' : ''}`,
    at: release.publishedAt,
    author: owners ? release.publishedBy : null,
    summary: lines.filter(line => line !== null).join('\n') || null,
  }
}

function cratePage(name: Name): string {
  return `${CRATES_FOLDER}/${name}/`
}

/** Renders an Atom feed (RFC 4287 §4.1) that depends only on its entries, not on the time. */
export function renderFeed(
  { base, title }: SiteConfig,
  path: string,
  subject: string,
  page: string,
  entries: readonly FeedEntry[],
): Output {
  const updated = entries.reduce((last, { at }) => (at > last ? at : last), '1970-01-01T00:00:00Z')
  const feed = html`${raw('<?xml version="1.0" encoding="utf-8"?>')}
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${base}/${path}</id>
<title>${clean(`${subject} – ${title}`)}</title>
<updated>${updated}</updated>
<author><name>${clean(title)}</name></author>
<link rel="self" type="application/atom+xml" href="${base}/${path}"/>
<link rel="alternate" type="text/html" href="${base}/${page}"/>
${entries.map(
  entry => html`<entry>
<id>${base}/${entry.id}</id>
<title>${entry.title}</title>
<updated>${entry.at}</updated>
<published>${entry.at}</published>
${entry.author === null ? null : html`<author><name>${clean(entry.author)}</name></author>\n`}<link rel="alternate" type="text/html" href="${base}/${entry.page}"/>
${entry.summary === null ? null : html`<summary>${clean(entry.summary)}</summary>\n`}</entry>
`,
)}</feed>
`
  return output(path, feed)
}

/** Replaces the characters that XML 1.0 §2.2 excludes. */
function clean(text: string): string {
  // An unpaired surrogate is not a character either.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  return text.replace(/[\p{Cs}\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/gu, '\ufffd')
}
