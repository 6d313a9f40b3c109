import { searchPath } from '../../core/paths/search.ts'
import { type SearchRequest, searchQuery } from '../../core/search/request.ts'
import type { SiteConfig } from '../site-config.ts'
import { type Child, html } from './markup.ts'

type CrateAction = `${'un' | ''}${'yank' | 'deprecate'}` | `owners/${'add' | 'remove'}` | 'trust'

/** Paths that the daemon serves; none of them is in the public tree. */
export const account = {
  home: 'me',
  login: 'me/login',
  oidc: (issuer: string) => `me/oidc/${issuer}`,
  logout: 'me/logout',
  tokens: 'me/tokens',
  revokeToken: (id: string | number) => `me/tokens/${id}/revoke`,
  invitation: (name: string, answer: 'accept' | 'decline') => `me/invitations/${name}/${answer}`,
  endOtherSessions: 'me/sessions/end',
  endSession: (id: string | number) => `me/sessions/${id}/end`,
  password: 'me/password',
  /** Page where an owner manages a crate; its forms post to paths below it. */
  crate: (name: string) => `me/crates/${name}`,
  crateAction: (name: string, action: CrateAction) => `me/crates/${name}/${action}`,
  trust: 'me/admin/trust',
  users: 'me/admin/users',
  addUser: 'me/admin/users/add',
  user: (login: string, action: 'link' | 'lock' | 'unlock' | 'reset' | 'promote' | 'demote') =>
    `me/admin/users/${login}/${action}`,
  audit: 'me/admin/audit',
  status: 'me/admin/status',
  upstreams: 'upstream/',
  upstream: (name: string) => `upstream/${name}/`,
  upstreamFeed: (name: string) => `upstream/${name}/feed.xml`,
  upstreamAdmin: (name: string) => `me/admin/upstream/${name}`,
} as const

/** Returns a relative link between two pages, so that the tree works at any URL. */
export function relativeLink(from: string, to: string): string {
  // Up to the last `/` of what both begin with.
  let same = 0
  for (let at = 0; at < to.length && to[at] === from[at]; at++) if (to[at] === '/') same = at + 1
  const ups = from.slice(same).split('/').length - 1
  const page = to.endsWith('/index.html') || to === 'index.html' ? to.slice(0, -10) : to
  const link = '../'.repeat(ups) + encodePath(page.slice(same))
  return link === '' ? './' : link.startsWith('/') ? `.${link}` : link
}

/** Returns the absolute URL of a page. */
export function absoluteLink(site: SiteConfig, to: string): string {
  const path = to.endsWith('index.html') ? to.slice(0, -'index.html'.length) : to
  return `${site.base}/${encodePath(path)}`
}

/** Turns the path of a page into a link from the current page. */
export type Linker = (to: string) => string

/** Returns the linker of the page at `from`; pass null for a page that is served at any depth. */
export function linker(site: SiteConfig, from: string | null): Linker {
  if (from !== null) return to => relativeLink(from, to)
  return to => new URL(absoluteLink(site, to)).pathname
}

/** Returns a link to the results of a search, such as all crates with a keyword. */
export function searchLink(to: Linker, search: Partial<SearchRequest>): string {
  return to(searchPath) + searchQuery(search)
}

/** Renders who published something, with a link to their crates; a removed account has none. */
export function personLink(to: Linker, login: string | null): Child {
  if (login === null || login.endsWith(' (removed)')) return login
  return html`<a href="${searchLink(to, { filters: { owner: login } })}">${login}</a>`
}

/** Returns a link to an operator's URL: absolute URLs stay, paths are below the base URL. */
export function ownLink(to: Linker, url: string): string {
  return /^https?:\/\//i.test(url) ? url : to(url.replace(/^\/+/, ''))
}

/** Characters of paths that stay as they are: `+` is not encoded by Cargo either. */
const PLAIN = /^[\w.+/-]*$/

/** Encodes the segments of a path, except `+`. */
function encodePath(path: string): string {
  if (PLAIN.test(path)) return path
  return path
    .split('/')
    .map(segment => encodeURIComponent(segment).replaceAll('%2B', '+'))
    .join('/')
}

/** Normalizes an untrusted http or https URL; null for anything else (`javascript:`). */
export function webLink(text: string | null): string | null {
  if (text === null || text.length > 2000 || !URL.canParse(text.trim())) return null
  const url = new URL(text.trim())
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null
}

/** Returns the text of a link: host and path of its URL. */
export function webLinkText(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname === '/' ? '' : pathname.replace(/\/$/, '')}`
}
