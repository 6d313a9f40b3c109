import type { SiteConfig } from '../site-config.ts'

/** Pages of the daemon: nothing of them is in the public tree. */
export const account = {
  home: 'me',
  login: 'me/login',
  logout: 'me/logout',
  tokens: 'me/tokens',
  revokeToken: (id: string | number) => `me/tokens/${id}/revoke`,
  acceptInvitation: (name: string) => `me/invitations/${name}/accept`,
  declineInvitation: (name: string) => `me/invitations/${name}/decline`,
  endOtherSessions: 'me/sessions/end',
  endSession: (id: string | number) => `me/sessions/${id}/end`,
  password: 'me/password',
  /** Page on which an owner manages a crate; its forms post below it. */
  crate: (name: string) => `me/crates/${name}`,
  yank: (name: string) => `me/crates/${name}/yank`,
  unyank: (name: string) => `me/crates/${name}/unyank`,
  addOwner: (name: string) => `me/crates/${name}/owners/add`,
  removeOwner: (name: string) => `me/crates/${name}/owners/remove`,
  users: 'me/admin/users',
  addUser: 'me/admin/users/add',
  user: (login: string, action: 'enable' | 'disable' | 'reset' | 'promote' | 'demote') =>
    `me/admin/users/${login}/${action}`,
  audit: 'me/admin/audit',
} as const

/** Link from one page to another, relative, so that the tree works wherever it is put. */
export function relativeLink(from: string, to: string): string {
  const here = from.split('/').slice(0, -1)
  const there = to.split('/')
  let same = 0
  while (same < here.length && same < there.length - 1 && here[same] === there[same]) same++
  const last = there.length - 1
  if (there[last] === 'index.html') there[last] = ''
  const steps = [...here.slice(same).map(() => '..'), ...there.slice(same).map(encodeSegment)]
  const link = steps.join('/')
  return link === '' ? './' : link.startsWith('/') ? `.${link}` : link
}

/** Link to a page by its whole URL. */
export function absoluteLink(site: SiteConfig, to: string): string {
  const path = to.endsWith('index.html') ? to.slice(0, -'index.html'.length) : to
  return `${site.base}/${path.split('/').map(encodeSegment).join('/')}`
}

/** What a page links with. */
export type Linker = (to: string) => string

/** The linker of the page at `from`; null for a page that is answered at any depth. */
export function linker(site: SiteConfig, from: string | null): Linker {
  if (from !== null) return to => relativeLink(from, to)
  return to => new URL(absoluteLink(site, to)).pathname
}

/** An operator's URL: absolute ones stay, paths are below the base. */
export function ownLink(to: Linker, url: string): string {
  return /^https?:\/\//i.test(url) ? url : to(url.replace(/^\/+/, ''))
}

/** A path may contain `+` as it is, and Cargo requests it so. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll('%2B', '+')
}

/** An untrusted `http` or `https` URL in normal form; null for anything else (`javascript:`). */
export function webLink(text: string | null): string | null {
  if (text === null || text.length > 2000 || !URL.canParse(text.trim())) return null
  const url = new URL(text.trim())
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null
}

/** The text of a link: host and path of its URL. */
export function webLinkText(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname === '/' ? '' : pathname.replace(/\/$/, '')}`
}
