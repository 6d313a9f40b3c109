import { linker } from '../elements/links.ts'
import { html } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { accountPage, buttonForm, type Viewer } from './frame.ts'

/** Title, explanation and button, which is the title by default; `#` and `@` stand for names. */
const QUESTIONS = {
  revoke: ['Revoke the token #?', 'Programs that use it are refused. This cannot be undone.'],
  'end-session': ['End the session of #?', 'Whoever uses it has to log in again.'],
  'end-sessions': ['End all other sessions of #?', 'Other browsers have to log in again.'],
  decline: ['Decline to own #?', 'To become an owner later, you need another invitation.'],
  'remove-owner': ['Remove @?', '@ will no longer be able to publish or yank versions of #.'],
  withdraw: ['Withdraw the invitation of @?', '@ will no longer be able to accept to own #.'],
  yank: [
    'Yank # @?',
    'New builds will no longer choose this version. Builds whose Cargo.lock names it keep working.',
    'Yank @',
  ],
  unyank: ['Unyank # @?', 'New builds will choose this version again.', 'Unyank @'],
  lock: ['Lock #?', 'Tokens of # are refused and every session ends, until # is unlocked.'],
  unlock: ['Unlock #?', '# can log in again, and the tokens of # work again.'],
  promote: ['Make # an administrator?', '# can then change every crate and every account.'],
  demote: ['Revoke the admin rights of #?', '# can then change only the crates that # owns.'],
  reset: ['Reset the password of #?', 'You get a link for #, which sets a new password once.'],
  allow: ['Allow #?', 'Builds can then choose it, although it is held.'],
  hold: ['Hold # again?', 'Builds can then choose it only when it is old enough.'],
  accept: ['Accept #?', 'It is taken as the upstream has it now, and its alarm is cleared.'],
} as const

/** What somebody is asked before the form of the same path changes something. */
export interface Question {
  readonly about: keyof typeof QUESTIONS
  /** What is changed, then whom or which version it concerns. */
  readonly names: readonly string[]
  readonly fields?: Readonly<Record<string, string>>
  /** The page to go back to. */
  readonly back: string
}

/** Renders a page that asks for confirmation; it works without JavaScript. */
export function confirmPage(
  site: SiteConfig,
  viewer: Viewer,
  path: string,
  { about, names: [what = '', whom = ''], fields, back }: Question,
): string {
  const [title = '', text, button = title.slice(0, -1)] = QUESTIONS[about].map(part =>
    part.replace(/[#@]/g, sign => (sign === '#' ? what : whom)),
  )
  const to = linker(site, null)
  const body = html`<p class="lead">${text}</p>
<div class="actions">${buttonForm(viewer, to(path), button, fields)}<a href="${to(back)}">Cancel</a></div>`
  return accountPage(site, viewer, { path, title, body })
}
