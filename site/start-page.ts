import { frontPath, linker } from './address.ts'
import { plural } from './amount.ts'
import { assetPath } from './assets.ts'
import { contentSecurityPolicy } from './content-security-policy.ts'
import { configBlock, copyBlock } from './install.ts'
import { html, raw } from './markup.ts'
import type { SiteFacts } from './site-facts.ts'
import type { SiteFile } from './site-file.ts'
import { siteFile } from './site-file.ts'

/** What the start page tells about the registry's content. */
export interface StartFacts {
  readonly crates: number
  readonly versions: number
  /** Some crates worth showing, at most a screenful. */
  readonly shown: readonly { readonly name: string; readonly version: string; readonly description: string | null }[]
}

/** The page of a registry by itself: what to type to use it, and what is in it. Needs no other page. */
export function startPage(site: SiteFacts, facts: StartFacts): SiteFile {
  const to = linker(site, frontPath)
  const example = facts.shown[0]?.name ?? 'NAME'
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${raw(contentSecurityPolicy(site))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="same-origin">
<title>${site.title}</title>
<meta name="description" content="${site.description}">
${site.private ? html`<meta name="robots" content="noindex">` : null}
<link rel="icon" type="image/svg+xml" href="${to(assetPath('mark.svg'))}">
<link rel="stylesheet" href="${to(assetPath('style.css'))}">
<script type="module" src="${to(assetPath('browser/page.js'))}"></script>
</head>
<body>
<main id="main">
<section class="hero">
<h1>${site.title}</h1>
<p class="lead">${site.description}</p>
<p class="counts">${plural(facts.crates, 'crate')}, ${plural(facts.versions, 'version')}</p>
</section>
<section class="start wide" aria-labelledby="use">
<h2 id="use">Use this registry</h2>
<div class="steps">
<div><h3>1. Tell Cargo where it is</h3><p>In <code>.cargo/config.toml</code> of your project or home folder:</p>${copyBlock(configBlock(site), 'registry configuration')}</div>
<div><h3>2. Add a crate</h3><p>Cargo writes the dependency into <code>Cargo.toml</code>:</p>${copyBlock(`cargo add ${example} --registry ${site.registry}`, 'cargo add command')}</div>
${
  site.api
    ? html`<div><h3>3. Publish your own</h3><p>With a <a href="me">token</a>:</p>${copyBlock(`cargo login --registry ${site.registry}\ncargo publish --registry ${site.registry}`, 'publish commands')}</div>`
    : null
}
</div>
</section>
${crates(facts)}
</main>
</body>
</html>
`
  return siteFile(frontPath, 'html', page.toString())
}

function crates({ shown }: StartFacts) {
  if (shown.length === 0) {
    return html`<section class="empty wide"><h2>No crates yet</h2><p>The registry is ready. The first crate you publish shows up here.</p></section>`
  }
  return html`<section class="wide" aria-labelledby="crates">
<h2 id="crates">Crates</h2>
<ul>${shown.map(one => html`<li><strong>${one.name}</strong> ${one.version}${one.description ? html`<br>${one.description}` : null}</li>`)}</ul>
</section>`
}
