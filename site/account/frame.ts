import { account, linker } from '../elements/links.ts'
import type { Child } from '../elements/markup.ts'
import { html } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { buttonForm, noticeBox } from './form.ts'
import type { Notice, Viewer } from './viewer.ts'

/** The frame of every page behind a login. */
export function accountPage(
  site: SiteConfig,
  viewer: Viewer,
  page: { path: string; title: string; notice: Notice | null; body: Child },
): string {
  // A form that was refused is answered under the address it was posted to, so links start at the root.
  const to = linker(site, null)
  const parts: [string, string][] = [['Your account', account.home]]
  if (viewer.admin) parts.push(['Users', account.users], ['Audit log', account.audit])
  const main = html`<div class="wide page">
<nav class="tabs" aria-label="Account">${parts.map(
    ([text, path]) =>
      html`<a href="${to(path)}"${path === page.path ? html` aria-current="page"` : null}>${text}</a>`,
  )}${buttonForm(viewer, to(account.logout), 'Log out')}</nav>
<h1>${page.title}</h1>
${noticeBox(page.notice)}
${page.body}
</div>`
  return layout(site, {
    path: null,
    title: page.title,
    description: `${page.title} on ${site.title}.`,
    main,
    canonical: null,
    viewer: viewer.login,
  })
}
