import type { Code } from '../../core/error/error.ts'
import type { Scope } from '../../generator/accounts/tokens.ts'
import { assets } from '../../site/layout/assets.ts'
import { publishRequest } from './release.ts'

/**
 * The callers: nobody; a token that is none of ours, or no longer; and good tokens: of another
 * user, of the owner of `demo` with a scope too few, with a pattern for other crates, and with
 * everything; and that of a job which a rule lets publish `demo`.
 */
export const GROUPS = [
  ...(['nobody', 'bad', 'stranger', 'lacking', 'elsewhere', 'owner'] as const),
  'trusted',
] as const
export type Group = (typeof GROUPS)[number]

/** A status of success, or the one objection that comes back. */
export type Verdict = number | Code
type Verdicts = Readonly<Record<Group, Verdict>>

/** One request, and its answers. */
export interface Ask {
  readonly path: string
  readonly body?: () => RequestInit['body']
  readonly headers?: Readonly<Record<string, string>>
  /** The rights of the token that lacks one. */
  readonly lacking: readonly Scope[]
  /** The missing right, as the answer names it. */
  readonly wanted: string
  readonly public: Verdicts
  readonly private: Verdicts
}

const all = (verdict: Verdict) =>
  Object.fromEntries(GROUPS.map(group => [group, verdict])) as Verdicts
const REFUSED = { nobody: 'token_absent', bad: 'token_rejected' } as const
/** Routes that a good token opens in a private registry, and one without `read` does not. */
const readable = (verdict: Verdict): Verdicts => ({
  ...all(verdict),
  ...REFUSED,
  lacking: 'scope_missing',
  elsewhere: 'scope_missing',
})

const JOBS = '/api/v1/trusted_publishing'

const row = (path: string, open: Verdicts, closed: Verdicts, more: Partial<Ask> = {}): Ask => {
  return { path, lacking: ['yank'], wanted: 'read', public: open, private: closed, ...more }
}
const open = (path: string) => row(path, all(200), all(200))
const reader = (path: string, more: Partial<Ask> = {}) => row(path, all(200), readable(200), more)
const missing = (path: string, code: Code) => row(path, all(code), readable(code))
/** Routes that any token opens. */
const member = (path: string) => {
  const verdicts = { ...all(200), ...REFUSED, trusted: 'trusted_token_only' } as const
  return row(path, verdicts, verdicts)
}
/** Routes that only a token opens which names the scope. */
const scoped = (path: string, body?: object): Ask => {
  const verdicts = { ...all('scope_missing'), ...REFUSED }
  const sent = body && { body: () => JSON.stringify(body) }
  return row(path, verdicts, verdicts, { wanted: 'trusted-publishing', ...sent })
}
const owner = (
  path: string,
  lacking: Scope,
  wanted: string,
  body?: () => RequestInit['body'],
): Ask => {
  const verdicts: Verdicts = {
    ...REFUSED,
    stranger: 'not_owner',
    lacking: 'scope_missing',
    elsewhere: 'crate_not_covered',
    owner: 200,
    trusted: path === '/api/v1/crates/new' ? 200 : 'scope_missing',
  }
  return row(path, verdicts, verdicts, { lacking: [lacking], wanted, ...(body && { body }) })
}

let published = 1
const nextVersion = () => publishRequest({ name: 'demo', version: `1.0.${published++}` })
const JSON_BODY = { headers: { 'content-type': 'application/json' } }
const said = (body: object) => () => JSON.stringify(body)
const users = () => JSON.stringify({ users: ['carol'] })

/**
 * Every route of the daemon but those for browsers, which `visits.main.test.ts` has. A new route is added
 * here with its answers to each caller, or `access.main.test.ts` fails.
 */
export const TABLE: Readonly<Record<string, readonly Ask[]>> = {
  'GET /healthz': [open('/healthz')],
  'GET /readyz': [open('/readyz')],
  'GET /startupz': [open('/startupz')],
  'GET /metrics': [reader('/metrics')],
  'GET /search/': [reader('/search/?q=demo')],
  'GET /crates/:name/latest/*': [
    row('/crates/demo/latest/', all(302), readable(302)),
    missing('/crates/none/latest/', 'route_unknown'),
  ],
  'PUT /api/v1/crates/new': [owner('/api/v1/crates/new', 'read', 'publish-update', nextVersion)],
  'DELETE /api/v1/crates/:name/:version/yank': [
    owner('/api/v1/crates/demo/1.0.0/yank', 'publish-update', 'yank'),
  ],
  'PUT /api/v1/crates/:name/:version/unyank': [
    owner('/api/v1/crates/demo/1.0.0/unyank', 'publish-update', 'yank'),
  ],
  'PATCH /api/v1/crates/:name/:version': [
    {
      ...owner('/api/v1/crates/demo/1.0.0', 'publish-update', 'yank', said({ version: {} })),
      ...JSON_BODY,
    },
  ],
  'PUT /api/v1/crates/:name/deprecation': [
    {
      ...owner(
        '/api/v1/crates/demo/deprecation',
        'publish-update',
        'yank',
        said({ reason: 'old' }),
      ),
      ...JSON_BODY,
    },
  ],
  'DELETE /api/v1/crates/:name/deprecation': [
    owner('/api/v1/crates/demo/deprecation', 'publish-update', 'yank'),
  ],
  'GET /api/v1/crates/:name/owners': [member('/api/v1/crates/demo/owners')],
  'PUT /api/v1/crates/:name/owners': [
    owner('/api/v1/crates/demo/owners', 'yank', 'change-owners', users),
  ],
  'DELETE /api/v1/crates/:name/owners': [
    owner('/api/v1/crates/demo/owners', 'yank', 'change-owners', users),
  ],
  'GET /api/v1/crates': [reader('/api/v1/crates?q=demo')],
  'GET /api/v1/summary': [reader('/api/v1/summary')],
  'GET /api/openapi.json': [reader('/api/openapi.json')],
  'GET /api/v1/crates/:name': [
    reader('/api/v1/crates/demo'),
    missing('/api/v1/crates/none', 'crate_unknown'),
  ],
  'GET /api/v1/crates/:name/versions': [reader('/api/v1/crates/demo/versions')],
  'GET /api/v1/crates/:name/reverse_dependencies': [
    reader('/api/v1/crates/demo/reverse_dependencies'),
  ],
  'GET /api/v1/crates/:name/downloads': [reader('/api/v1/crates/demo/downloads')],
  'GET /api/v1/crates/:name/:version': [
    reader('/api/v1/crates/demo/1.0.0'),
    missing('/api/v1/crates/demo/9.9.9', 'release_unknown'),
  ],
  'GET /api/v1/crates/:name/:version/dependencies': [
    reader('/api/v1/crates/demo/1.0.0/dependencies'),
  ],
  'GET /api/v1/crates/:name/:version/downloads': [reader('/api/v1/crates/demo/1.0.0/downloads')],
  'GET /api/v1/crates/:name/:version/authors': [reader('/api/v1/crates/demo/1.0.0/authors')],
  'GET /api/v1/crates/:name/:version/readme': [
    missing('/api/v1/crates/demo/1.0.0/readme', 'readme_unknown'),
  ],
  'GET /api/v1/crates/:name/:version/download': [
    reader('/api/v1/crates/demo/1.0.0/download'),
    missing('/api/v1/crates/none/1.0.0/download', 'crate_unknown'),
  ],
  'GET /dl/:name/:version/download': [
    reader('/dl/demo/1.0.0/download'),
    missing('/dl/demo/9.9.9/download', 'release_unknown'),
  ],
  'PATCH /api/v1/crates/:name': [scoped('/api/v1/crates/demo', { crate: { trustpub_only: true } })],
  'POST /api/v1/trusted_publishing/tokens': [row(`${JOBS}/tokens`, all(415), all(415))],
  'DELETE /api/v1/trusted_publishing/tokens': [
    row(`${JOBS}/tokens`, { ...all(401), trusted: 204 }, { ...all(401), trusted: 204 }),
  ],
  ...Object.fromEntries(
    ['github', 'gitlab'].flatMap(provider => [
      [`GET ${JOBS}/${provider}_configs`, [scoped(`${JOBS}/${provider}_configs?crate=demo`)]],
      [`POST ${JOBS}/${provider}_configs`, [scoped(`${JOBS}/${provider}_configs`, {})]],
      [`DELETE ${JOBS}/${provider}_configs/:id`, [scoped(`${JOBS}/${provider}_configs/1`)]],
    ]),
  ),
  'GET /assets/*': [open(`/${assets[0]?.path}`)],
  'GET /favicon.ico': [open('/favicon.ico')],
  'GET /upstream/': [reader('/upstream/')],
  'GET /upstream/up/': [reader('/upstream/up/')],
  'GET /upstream/up/feed.xml': [reader('/upstream/up/feed.xml')],
  'GET /upstream/up/index/config.json': [reader('/upstream/up/index/config.json')],
  'GET /upstream/up/index/*': [missing('/upstream/up/index/no/ne/none', 'route_unknown')],
  'GET /upstream/up/crates/:file{[^/]+\\.crate}': [
    missing(`/upstream/up/crates/none-1.0.0-${'0'.repeat(64)}.crate`, 'route_unknown'),
  ],
  'GET /upstream/up/crates/:name/:version/download': [
    missing('/upstream/up/crates/none/1.0.0/download', 'route_unknown'),
  ],
  'GET /index.git/*': [
    reader('/index.git/info/refs?service=git-upload-pack'),
    reader('/index.git/info/refs'),
    reader('/index.git/HEAD'),
  ],
  'POST /index.git/*': [
    reader('/index.git/git-upload-pack', {
      body: () => '0000',
      headers: { 'content-type': 'application/x-git-upload-pack-request' },
    }),
  ],
  'GET /*': [
    row('/index/config.json', all(200), { ...all(200), ...REFUSED }),
    reader('/index/de/mo/demo'),
    reader('/crates/demo/demo-1.0.0.crate'),
    reader('/'),
    missing('/index/no/ne/none', 'route_unknown'),
    missing('/crates/none/none-1.0.0.crate', 'route_unknown'),
    missing('/none.html', 'route_unknown'),
  ],
}
