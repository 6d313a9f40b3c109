import { absoluteLink, crateFeedPath, cratePath, feedPath, frontPath, versionPath } from './address.ts'
import { html, type Markup, raw } from './markup.ts'
import type { SiteFacts } from './site-facts.ts'
import type { SiteFile } from './site-file.ts'
import { siteFile } from './site-file.ts'

/** A published version in a feed. */
export interface FeedEntry {
  readonly name: string
  readonly version: string
  readonly description: string | null
  readonly published: string | null
  readonly publisher: string | null
}

/** What a feed says of a time nobody knows; a feed without `updated` is no feed. */
const UNKNOWN = '1970-01-01T00:00:00Z'

/** The feed of the registry: its latest versions, newest first. */
export function registryFeed(site: SiteFacts, entries: readonly FeedEntry[]): SiteFile {
  return feed(site, feedPath, absoluteLink(site, frontPath), site.title, entries)
}

/** The feed of a crate: its latest versions, newest first. */
export function crateFeed(site: SiteFacts, name: string, entries: readonly FeedEntry[]): SiteFile {
  return feed(site, crateFeedPath(name), absoluteLink(site, cratePath(name)), `${name} · ${site.title}`, entries)
}

function feed(site: SiteFacts, path: string, page: string, title: string, entries: readonly FeedEntry[]): SiteFile {
  const self = absoluteLink(site, path)
  const updated =
    entries
      .map(entry => entry.published ?? UNKNOWN)
      .sort()
      .at(-1) ?? UNKNOWN
  return siteFile(
    path,
    'atom',
    html`${raw('<?xml version="1.0" encoding="utf-8"?>')}
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${self}</id>
<title>${printable(title)}</title>
<updated>${updated}</updated>
<author><name>${printable(site.title)}</name></author>
<link rel="self" type="application/atom+xml" href="${self}"/>
<link rel="alternate" type="text/html" href="${page}"/>
${entries.map(entry => feedEntry(site, entry))}</feed>
`,
  )
}

function feedEntry(site: SiteFacts, entry: FeedEntry): Markup {
  const link = absoluteLink(site, versionPath(entry.name, entry.version))
  return html`<entry>
<id>${link}</id>
<title>${entry.name} ${entry.version}</title>
<updated>${entry.published ?? UNKNOWN}</updated>
${entry.publisher === null ? null : html`<author><name>${printable(entry.publisher)}</name></author>`}
<link rel="alternate" type="text/html" href="${link}"/>
<summary>${printable(entry.description ?? `Version ${entry.version} of ${entry.name}.`)}</summary>
</entry>
`
}

/** XML has no way to write control characters. */
function printable(text: string): string {
  return [...text]
    .filter(
      one =>
        (one >= ' ' && one !== '\ufffe' && one !== '\uffff' && !/^[\ud800-\udfff]$/.test(one)) || /[\t\n\r]/.test(one),
    )
    .join('')
}
