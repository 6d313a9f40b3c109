import { account, linker } from '../elements/links.ts'
import { type Child, html } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { buttonForm, noticeBox } from './form.ts'
import type { Notice, Viewer } from './viewer.ts'

/** The frame of every page behind a login. */
export function accountPage(
  site: SiteConfig,
  viewer: Viewer,
  page: { path: string; title: string; notice?: Notice | null; body: Child },
): string {
  const { path, title, notice = null, body } = page
  // A refused form is answered at the path it posted to, so links start at the root.
  const to = linker(site, null)
  const tabs: [string, string][] = [['Your account', account.home]]
  if (viewer.admin) tabs.push(['Users', account.users], ['Audit log', account.audit])
  const main = html`<div class="wide page">
<nav class="tabs" aria-label="Account">${tabs.map(
    ([text, target]) =>
      html`<a href="${to(target)}"${target === path ? html` aria-current="page"` : null}>${text}</a>`,
  )}${buttonForm(viewer, to(account.logout), 'Log out')}</nav>
<h1>${title}</h1>
${noticeBox(notice)}
${body}
</div>`
  return layout(site, { path: null, title, main, viewer: viewer.login })
}
