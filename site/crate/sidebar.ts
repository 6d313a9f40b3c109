import { crateFeedPath } from '../../core/paths/crates.ts'
import { searchPath } from '../../core/paths/search.ts'
import { sourcePath } from '../../core/paths/source.ts'
import type { OwnerRow } from '../data/crate.ts'
import type { VersionData } from '../data/version.ts'
import { bytes } from '../elements/amount.ts'
import { icon } from '../elements/icon.ts'
import { copyBlock, copyButton, installLines } from '../elements/install.ts'
import { account, type Linker } from '../elements/links.ts'
import type { Child, Markup } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import { timeTag } from '../elements/time.ts'
import { webLink, webLinkText } from '../elements/web-link.ts'
import type { SiteConfig } from '../site-config.ts'

/** How a version is taken into use, unless Cargo would refuse; `pinned` where the page speaks of one version only. */
export function installSection(
  site: SiteConfig,
  version: VersionData,
  pinned: boolean,
): Markup | null {
  if (version.yanked) return null
  return html`<section class="install"><h2>Install</h2>
${installLines(site, version, pinned).map(line => copyBlock(line.text, line.label))}
${version.binaries.length > 0 ? html`<p class="quiet small">Installs ${version.binaries.map((name, at) => html`${at === 0 ? null : ', '}<code>${name}</code>`)}.</p>` : null}
</section>`
}

/** The facts beside the README; `owners` is null where the page speaks of one version only. */
export function sidebar(
  site: SiteConfig,
  version: VersionData,
  owners: readonly OwnerRow[] | null,
  to: Linker,
): Markup {
  return html`<aside class="side" aria-label="About ${version.name} ${version.version}">
<section><h2>About</h2>
${definitions(version)}
</section>
${linkList(version)}
${keywordList(site, version, to)}
${owners === null ? null : ownerList(owners)}
<section><h2>Files</h2>
<ul class="plain">
<li>${icon('download')} <a href="${version.download}" rel="nofollow">Download</a> <span class="quiet">${bytes(version.size)}</span></li>
${version.source ? html`<li>${icon('folder')} <a href="${to(sourcePath(version.name, version.version))}">Browse the source</a></li>` : null}
</ul>
<div class="checksum"><span class="quiet">SHA-256</span> <code>${version.checksum}</code>${copyButton('checksum')}</div>
</section>
${
  owners === null
    ? null
    : html`<section class="quiet small">${site.feeds ? html`<a href="${to(crateFeedPath(version.name))}">Feed of new versions</a>` : null}${site.feeds && site.api ? ' · ' : null}${site.api ? html`<a href="${to(account.crate(version.name))}">Manage</a>` : null}</section>`
}
</aside>`
}

function definitions(version: VersionData): Markup {
  const rows: [string, Child][] = [
    ['Version', version.version],
    ['Published', version.published === null ? null : timeTag(version.published)],
    ['By', version.publisher],
    ['Rust', version.rustVersion === null ? null : `${version.rustVersion} or newer`],
    ['Edition', version.edition],
    ['Licence', version.license ?? version.licenseFile ?? 'none stated'],
    ['Links', version.links === null ? null : html`<code>${version.links}</code>`],
  ]
  return html`<dl>${rows
    .filter(([, value]) => value !== null)
    .map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`
}

function linkList(version: VersionData): Markup | null {
  const links = (
    [
      ['Homepage', version.homepage],
      ['Documentation', version.documentation],
      ['Repository', version.repository],
    ] as const
  ).flatMap(([title, text]) => {
    const url = webLink(text)
    return url === null ? [] : [{ title, url }]
  })
  if (links.length === 0) return null
  return html`<section><h2>Links</h2><ul class="plain">${links.map(
    ({ title, url }) =>
      html`<li><a href="${url}" rel="nofollow noopener noreferrer">${title}</a> <span class="quiet small">${webLinkText(url)}</span></li>`,
  )}</ul></section>`
}

function keywordList(site: SiteConfig, version: VersionData, to: Linker): Markup | null {
  if (version.keywords.length + version.categories.length === 0) return null
  const words = version.keywords.map(
    word =>
      html`<li>${site.search ? html`<a href="${to(searchPath)}?q=${encodeURIComponent(word)}">${word}</a>` : word}</li>`,
  )
  const categories = version.categories.map(slug => html`<li>${slug}</li>`)
  return html`<section><h2>Keywords</h2><ul class="tags">${words}${categories}</ul></section>`
}

function ownerList(owners: readonly OwnerRow[]): Markup | null {
  if (owners.length === 0) return null
  return html`<section><h2>Owners</h2><ul class="plain">${owners.map(
    owner =>
      html`<li>${owner.login}${owner.name === null ? null : html` <span class="quiet">${owner.name}</span>`}</li>`,
  )}</ul></section>`
}
