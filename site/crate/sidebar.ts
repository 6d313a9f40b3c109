import { categoryTitle } from '../../core/category.ts'
import { isCratesIo } from '../../core/index-url.ts'
import { crateFeedPath, sourcePath } from '../../core/paths/crates.ts'
import { categoryPath, keywordPath, userPath } from '../../core/paths/listings.ts'
import { unknownCategories } from '../../core/policy/fields.ts'
import { counted, formatBytes } from '../../core/quantity.ts'
import { jobUrl } from '../../core/trust/job.ts'
import type { OwnerRow, VersionData, VersionRow } from '../crate-data.ts'
import { downloadSection } from '../elements/downloads.ts'
import { copyBlock, cut, icon, timeTag } from '../elements/elements.ts'
import {
  account,
  type Linker,
  personLink,
  searchLink,
  webLink,
  webLinkText,
} from '../elements/links.ts'
import { type Child, html, join, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { badgeMarkdown } from './badge.ts'
import { itemCodes } from './features.ts'
import { licenseText } from './license.ts'

/** Renders who published a version: a user, or the job of a CI system; null if it is not known. */
export function publisherOf({ publishedBy, job = null }: VersionRow, to: Linker): Child {
  if (!job) return personLink(to, publishedBy)
  const name = cut(`CI of ${job.repository ?? job.subject}`)
  const url = jobUrl(job)
  return url === null ? name : html`<a href="${url}" rel="nofollow noopener">${name}</a>`
}

/** Renders the facts and links that readers look for first. */
function aboutSection(site: SiteConfig, version: VersionData, to: Linker): Markup {
  const rows: [string, Child][] = [
    ['Version', version.version],
    ['Published', timeTag(version.publishedAt)],
    ['Published by', publisherOf(version, to)],
    ['Commit', version.job?.commit ? html`<code>${cut(version.job.commit)}</code>` : null],
    ['Rust', version.rust_version === null ? null : `${version.rust_version} or newer`],
    ['Edition', version.edition && cut(version.edition)],
    ['License', licenseText(site, version, to)],
    ['Links', version.links === null ? null : html`<code>${cut(version.links)}</code>`],
  ]
  return html`<section class="about"><h2>About</h2>
<dl>${rows
    .filter(([, value]) => value !== null)
    .map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
${linkList(site, version, to)}
</section>`
}

/** Renders what phones show above the README, and the rest below it; `owners` is null on the page of one version, which shows no downloads. */
export function sidebar(
  site: SiteConfig,
  version: VersionData,
  owners: readonly OwnerRow[] | null,
  to: Linker,
  hasDownloads = false,
): readonly [above: Markup, side: Markup] {
  const { name } = version
  const links = [
    site.feeds ? html`<a href="${to(crateFeedPath(name))}">Release feed</a>` : null,
    site.api ? html`<a href="${to(account.crate(name))}">Manage</a>` : null,
  ].filter(link => link !== null)
  const above = html`${installSection(site, version, owners === null)}${aboutSection(site, version, to)}`
  const side = html`<aside class="side" aria-label="More about ${name} ${version.version}">
${hasDownloads ? downloadSection(name, to) : null}
${labelList('keyword', site, version, owners !== null, to)}
${labelList('category', site, version, owners !== null, to)}
${owners === null ? null : ownerList(site, owners, to)}
${fileSection(version)}
${owners === null || site.private ? null : badgeSection(site, name)}
${owners === null ? null : html`<section class="quiet small">${join(links, ' · ')}</section>`}
</aside>`
  return [above, side]
}

/** In a private registry, other sites could not load the badge. */
function badgeSection(site: SiteConfig, name: string): Markup {
  const markdown = copyBlock(badgeMarkdown(site, name), 'Markdown of the badge')
  return html`<details class="small"><summary>Badge</summary>${markdown}</details>`
}

function fileSection(version: VersionData): Markup {
  const { contents } = version
  return html`<section><h2>Files</h2>
<ul class="plain">
<li>${icon('download')} <a href="${version.download}" rel="nofollow">Download</a> <span class="quiet">${formatBytes(version.size)}</span></li>
${contents && html`<li>${icon('file')} ${counted(contents.files, 'file')}, ${formatBytes(contents.bytes)} unpacked</li>`}
${contents && contents.rust.files > 0 && html`<li title="Without blank lines and comments">${icon('code')} ${counted(contents.rust.code_lines, 'line')} of Rust</li>`}
</ul>
<div class="checksum" data-copy="checksum"><span class="quiet">SHA-256</span> <code>${version.cksum}</code></div>
</section>`
}

function section(title: string, className: string, items: readonly Markup[]): Markup | null {
  if (items.length === 0) return null
  return html`<section><h2>${title}</h2><ul class="${className}">${items.map(item => html`<li>${item}</li>`)}</ul></section>`
}

function linkList(site: SiteConfig, version: VersionData, to: Linker): Markup | null {
  const links = Object.entries({
    Homepage: version.homepage,
    Documentation: version.documentation ?? docsOf(site, version),
    Repository: version.repository,
  })
  const items = links.flatMap(([title, text]) => {
    const url = webLink(text)
    if (url === null) return []
    return html`<a href="${url}" rel="nofollow noopener noreferrer">${title}</a> <span class="quiet small">${webLinkText(url)}</span>`
  })
  const source = to(sourcePath(version.name, version.version))
  if (site.source)
    items.push(
      html`<a href="${source}">Source</a> <span class="quiet small">files of this version</span>`,
    )
  return items.length === 0
    ? null
    : html`<ul class="plain links" aria-label="Links">${items.map(item => html`<li>${item}</li>`)}</ul>`
}

/** Returns where the documentation of a library is that names none; null when unknown. */
function docsOf({ docs }: SiteConfig, { name, version, origin, has_lib = true }: VersionData) {
  const isPublic = origin !== undefined && isCratesIo(origin)
  const template = docs ?? (isPublic ? 'https://docs.rs/{crate}/{version}' : null)
  if (template === null || !has_lib) return null
  return template.replaceAll('{crate}', name).replaceAll('{version}', encodeURIComponent(version))
}

/** Maximum number of levels of a category, and of labels of a crate that have a page. */
const LEVELS_MAX = 4
const LABELS_MAX = 32

/**
 * Renders keywords or categories. Labels of a crate's newest version have pages, which leave out
 * yanked crates; labels of other versions lead to a search.
 */
function labelList(
  kind: 'keyword' | 'category',
  site: SiteConfig,
  { keywords, categories, yanked }: VersionData,
  isNewest: boolean,
  to: Linker,
): Markup | null {
  const hasPages = isNewest && !yanked
  const isEach = keywords.length + LEVELS_MAX * categories.length <= LABELS_MAX
  const pathOf = (word: string) =>
    kind === 'keyword'
      ? keywordPath(word)
      : unknownCategories([word], site).length === 0
        ? categoryPath(word)
        : null
  const link = (word: string) => {
    const path = hasPages && isEach ? pathOf(word) : null
    return path === null ? searchLink(to, { filters: { [kind]: word } }) : to(path)
  }
  const [title, words] =
    kind === 'keyword' ? (['Keywords', keywords] as const) : (['Categories', categories] as const)
  const items = words.map(
    word => html`<a href="${link(word)}">${kind === 'keyword' ? word : categoryTitle(word)}</a>`,
  )
  return section(title, 'tags', items)
}

function ownerList(site: SiteConfig, owners: readonly OwnerRow[], to: Linker): Markup | null {
  // An empty list means nothing if the registry hides owners or has no users.
  if (owners.length === 0 && site.api && site.owners)
    return html`<section><h2>Owners</h2><p class="quiet">None. The administrators of this registry manage the crate.</p></section>`
  // A group, `group:NAME`, has no page.
  const items = owners.map(
    ({ login, name }) =>
      html`${login.includes(':') ? login : html`<a href="${to(userPath(login))}">${login}</a>`}${name === null ? null : html` <span class="quiet">${name}</span>`}`,
  )
  return section('Owners', 'plain', items)
}

/**
 * Renders the commands that add or install a version; null for a yanked one, which Cargo would
 * refuse. `pinned`: the commands name the version, as on the page of one version.
 */
function installSection(
  { registry }: SiteConfig,
  version: VersionData,
  pinned: boolean,
): Markup | null {
  if (version.yanked) return null
  const { name, has_lib = true, bin_names = [] } = version
  const release = version.version.replace(/\+.*$/, '')
  const lines: Markup[] = []
  if (has_lib || bin_names.length === 0) {
    const add = `cargo add ${name}${pinned ? `@=${release}` : ''} --registry ${registry}`
    const line = `${name} = { version = "${pinned ? '=' : ''}${release}", registry = "${registry}" }`
    lines.push(copyBlock(add, 'cargo add command'), copyBlock(line, 'Cargo.toml line'))
  }
  if (bin_names.length > 0) {
    // Unlike `cargo add`, `cargo install` never chooses a pre-release unless it is named.
    const chosen = pinned || release.includes('-') ? ` --version ${version.version}` : ''
    const install = `cargo install ${name}${chosen} --registry ${registry}`
    lines.push(
      copyBlock(install, 'cargo install command'),
      html`<p class="quiet small">Installs ${itemCodes(bin_names)}.</p>`,
    )
  }
  return html`<section class="install"><h2>Install</h2>
${lines}
</section>`
}
