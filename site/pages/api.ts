import { isName, type Name } from '../../core/name.ts'
import {
  badgePath,
  crateFeedPath,
  crateFilePath,
  cratePath,
  crateRecordPath,
} from '../../core/paths/crates.ts'
import { apiPagePath } from '../../core/paths/listings.ts'
import { searchLayoutPath } from '../../core/paths/search.ts'
import {
  configPath,
  frontPath,
  indexPath,
  newCratesPath,
  type Output,
  openSearchPath,
  output,
  sitemapPath,
  updatesPath,
} from '../../core/paths/tree.ts'
import { baseOfDl } from '../../core/urls/urls.ts'
import type { Version } from '../../core/version.ts'
import type { CrateItem } from '../crate-data.ts'
import { cargoConfig, cargoLogin, copyBlock, messageText, trail } from '../elements/elements.ts'
import { absoluteLink, account, type Linker, linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'

type Example = Pick<CrateItem, 'name' | 'newest'>

/** Renders the page that explains the addresses of the registry to people. */
export function apiPage(site: SiteConfig, crate: Example | null): Output {
  const path = apiPagePath
  const to = linker(site, path)
  const title = site.api ? 'Web API and files' : 'Files for programs'
  const example = crate ?? { name: 'example', newest: '1.0.0' }
  const main = html`<div class="wide page prose">
${trail(to, [frontPath, 'Home'])}
<h1>${title}</h1>
<p class="lead">What programs can read from ${site.title}${site.api ? ' and send to it' : ''}, with examples to run.</p>
<h2>Cargo</h2>
<p>Cargo needs only the address of the sparse index. In <code>.cargo/config.toml</code>:</p>
${cargoConfig(site)}
${site.private && site.api ? cargoLogin(site) : null}
${site.api ? webApi(site, example, to) : noWebApi(to)}
${files(site, example, crate !== null, to)}
</div>`
  return output(path, layout(site, { path, title, main }))
}

function noWebApi(to: Linker): Markup {
  return html`<h2>No web API</h2>
<p>This registry consists of plain files. Commands of Cargo that need a web API, such as <code>cargo publish</code>, <code>cargo search</code> and <code>cargo owner</code>, do not work here. Building does. The <a href="${to('search/')}">search page</a> searches in the browser.</p>`
}

function webApi(site: SiteConfig, example: Example, to: Linker): Markup {
  const { name, newest } = example
  const header = site.private ? ' -H "Authorization: $TOKEN"' : ''
  const calls = [
    ['Search, as `cargo search` does', `crates?q=${name}&per_page=1`],
    ['A crate with its versions', `crates/${name}`],
    ['One version', `crates/${name}/${newest}`],
    ['What depends on a crate', `crates/${name}/reverse_dependencies`],
  ] as const
  const failure = { errors: [{ detail: 'there is no crate `nothing` here' }] }
  return html`<h2>Web API</h2>
<p>The paths and answers are those of crates.io, so most of its clients work here. The <a href="${to('api/openapi.json')}">OpenAPI document</a> describes every call, parameter and field.</p>
${calls.map(
  ([what, path]) => html`<h3>${messageText(what)}</h3>
${copyBlock(`curl${header} '${site.apiUrl}/api/v1/${path}'`, 'curl command')}
`,
)}
${tokens(site, name, to)}
<h2>Errors</h2>
<p>Every failure has a JSON body with one sentence for each problem:</p>
${copyBlock(JSON.stringify(failure), 'answer')}
<ul class="plain">
<li><strong>401</strong>: reading requires a token.</li>
<li><strong>403</strong>: the token is missing, wrong, or lacks the permission.</li>
<li><strong>404</strong>: there is no such crate, version or address.</li>
<li><strong>429</strong>: too many requests; <code>Retry-After</code> says in how many seconds to try again.</li>
</ul>
<p>Failures of Cargo's own operations, such as a publish, have the status 200.</p>
<h2>Limits</h2>
<p>Lists have pages: <code>per_page</code> is at most 100, and <code>meta.next_page</code> is the query of the next page. Searches, publishes and logins are limited per minute. To read everything, read the files below: they have no limit, and a CDN may serve them.</p>`
}

function tokens(site: SiteConfig, name: string, to: Linker): Markup {
  const owners = `${site.apiUrl}/api/v1/crates/${name}/owners`
  return html`<h2>Tokens</h2>
<p>${site.private ? 'Every call needs a token.' : 'Reading needs no token.'} Publishing, yanking and changing owners do. Create one in <a href="${to(account.home)}">your account</a>; its permissions can be limited to some operations and crates. Cargo asks for it with <code>cargo login --registry ${site.registry}</code> and sends it in the header <code>Authorization</code>. Other programs do the same:</p>
${copyBlock(`curl -H "Authorization: $TOKEN" '${owners}'`, 'curl command')}`
}

function files(site: SiteConfig, example: Example, isReal: boolean, to: Linker): Markup {
  const name = (isName(example.name) ? example.name : 'example') as Name
  const rows: [path: string, what: string, exists: boolean][] = [
    [configPath, 'Settings of the index for Cargo', true],
    [indexPath(name), 'Index file of a crate: one JSON line for each version', isReal],
    [
      crateFilePath(name, example.newest as Version),
      'A version as Cargo downloads it',
      isReal && baseOfDl(site.dl) === site.base,
    ],
    [crateRecordPath(name), 'Everything about a crate and its versions as JSON', isReal],
    [crateFeedPath(name), 'Feed of the versions of a crate', isReal && site.feeds],
    [badgePath(name), 'Badge with the newest version of a crate', isReal],
    [cratePath(name), 'Page of a crate', isReal],
    [newCratesPath, 'Feed of new crates', site.feeds],
    [updatesPath, 'Feed of all new versions', site.feeds],
    [searchLayoutPath, 'Start of the files that the search in browsers reads', isReal],
    [openSearchPath, 'Description of the search for browsers', true],
    [sitemapPath, 'Site map', !site.private],
  ]
  const shown = rows.filter(([, , exists]) => exists)
  return html`<h2>Files</h2>
<p>${site.private ? 'Readers need a token or a login. ' : ''}Each file has an <code>ETag</code> on most servers: a request with <code>If-None-Match</code> is answered with 304 while the file is unchanged.</p>
<ul class="rows">${shown.map(
    ([path, what]) =>
      html`<li><a href="${to(path)}">${absoluteLink(site, path)}</a><br><span class="quiet">${what}</span></li>\n`,
  )}</ul>`
}
