import { topics } from '../../check/rows/all.ts'
import { buildCrate, buildEvil, type Trick } from '../support/crate-builder.ts'
import type { Reply } from '../support/recording-proxy.ts'
import {
  CONFIG,
  CRATE,
  dep,
  GIT,
  GOOD,
  header,
  INDEX,
  type Json,
  json,
  line,
  MISSING,
  NEW,
  OWNERS,
  on,
  plain,
  SEARCH,
  type Switch,
  set,
  status,
  text,
  where,
  YANK,
} from './changes.ts'

const answering = (key: string, value: unknown): Switch =>
  json(SEARCH, ({ crates, ...rest }) => ({
    crates: (crates as Json[]).map(crate => ({ ...crate, [key]: value })),
    ...rest,
  }))
const evil = (trick: Trick): Switch =>
  on(CRATE, { body: Buffer.from(buildEvil(trick, { name: 'a', version: '1.0.0' })) })
const other = buildCrate({
  name: 'a',
  version: '1.0.0',
  manifest: '[package]\nname = "b"\nversion = "1.0.0"\n',
})
/** What it takes and should refuse. */
const TAKEN = Object.values(topics)
  .flat()
  .flatMap(({ id }) => (/^refuse-(?!traces|broken|reasons|status)/.test(id) ? id : []))
const refused = (change: Partial<Reply>): Switch =>
  on(NEW, reply => (plain(reply).includes('errors') ? change : {}))
/** Wrong to Cargo itself. */
const toCargo = (path: RegExp, change: Partial<Reply> | Switch): Switch =>
  where(path, 'user-agent', /^cargo(?!.*plimsoll)/, change)
/** Wrong only after the first answer. */
const later = (path: RegExp, change: Partial<Reply>): Switch => {
  let answers = 0
  return on(path, () => (answers++ > 0 ? change : {}))
}
const cached = (path: RegExp) => where(path, 'if-none-match', /./, { status: 304 })
/** Takes everything, and writes lines in another way that Cargo reads alike. */
export const otherwise: Switch = (reply, asked) => {
  on(NEW, GOOD)(reply, asked)
  on(/-refused-/, { status: 200, headers: {}, body: Buffer.from('{"vers":"1.0"}\n') })(reply, asked)
  text(INDEX, file =>
    file
      .replaceAll('"req":"^1.0"', '"req":">=1.0.0, <2.0.0"')
      .replaceAll('"rust_version":"1.60"', '"rust_version":"1.60.0"'),
  )(reply, asked)
}

/** How the registry is made wrong, so that a statement fails: by the statement's id. */
export const switches: Readonly<Record<string, Switch>> = {
  'config-found': text(CONFIG, config => `[${config}]`),
  'config-dl-url': set('dl', '/dl'),
  'config-dl-markers': set('dl', 'https://example.com/{name}/{version}'),
  'config-here': () => 'its index is elsewhere',
  'config-api-url': set('api', 'example.com/api'),
  'config-api-slash': set('api', 'https://example.com/'),
  'config-auth': set('auth-required', null),

  'file-1': status(/\/index\/1\//, 404),
  'file-2': status(/\/index\/2\//, 404),
  'file-3': status(/\/index\/3\//, 404),
  'file-4': status(/\/index\/ba\/se\//, 404),
  'file-lower': status(/mixedcase/, 404),
  'missing-page': status(MISSING, 200),
  'missing-gone': status(MISSING, 410),
  'missing-denied': status(MISSING, 403),
  'missing-failed': status(MISSING, 500),
  'missing-short': status(/\/zq$/, 400),
  'missing-cached': header(MISSING, 'cache-control', 'public, max-age=300'),

  'line-json': text(INDEX, file => `oops\n${file}`),
  'line-name': line('name', 'a name'),
  'line-name-file': line('name', 'another'),
  'line-vers': line('vers', 'v1.0.0'),
  'line-deps': line('deps', null),
  'line-cksum': line('cksum', 'ABCD'.repeat(16)),
  'line-features': line('features', null),
  'line-yanked': line('yanked', 'false'),
  'line-links': line('links', 7),
  'line-v': line('v', '2'),
  'line-features2': line('features2', []),
  'line-rust-version': line('rust_version', '^1.60'),
  'line-once': text(INDEX, file => file + file),
  'line-once-build': text(INDEX, file => file + file.replace('"1.0.0"', '"1.0.0+a"')),
  'line-keys': text(INDEX, file => file.replaceAll('{"name"', '{"v":1,"v":1,"name"')),
  'line-pubtime': line('pubtime', '2026-11-20T12:00:00.000Z'),
  'line-feature-values': line('features', { one: ['none'] }),
  'line-all': line('yanked', undefined),
  'line-features2-v': line('v', 1),
  'line-pubtime-there': line('pubtime', undefined),

  'dep-name': dep('name', ''),
  'dep-req': dep('req', 'v1'),
  'dep-features': dep('features', null),
  'dep-optional': dep('optional', null),
  'dep-target': dep('target', 'cfg('),
  'dep-registry': dep('registry', 'team'),
  'dep-package': dep('package', ''),
  'dep-dev-optional': dep('optional', true),
  'dep-kind': dep('kind', null),
  'dep-all': dep('default_features', undefined),
  'dep-crates-io': dep('registry', 'sparse+https://index.crates.io/'),
  'dep-own': dep('registry', (host: string) => `sparse+http://${host}/index/`),

  'http-etag-ascii': header(INDEX, 'etag', '"\u00e9"'),
  'http-changed': cached(INDEX),
  'http-agent': where(INDEX, 'user-agent', /somebody/, { status: 403 }),
  'http-encodings': header(INDEX, 'content-encoding', 'br'),
  'http-unasked': header(INDEX, 'content-encoding', 'gzip'),
  'http-h2c': where(CONFIG, 'upgrade', /h2c/, { status: 426 }),
  'http-validator': on(INDEX, { headers: {} }),
  'http-304': status(INDEX, 200, 304),
  'http-vary': header(INDEX, 'vary'),
  'http-guarded': header(INDEX, 'cache-control', 'public, max-age=60'),
  'http-fresh': header(INDEX, 'cache-control', 'max-age=600'),
  'http-gzip': on(INDEX, { headers: {}, body: Buffer.from('{"a":1}\n'.repeat(999)) }),

  'download-found': status(CRATE, 206),
  'download-yanked': status(/base-0\.9\.0/, 404),
  'download-build': status(/base-1\.1\.0\+/, 404),
  'download-cksum': on(CRATE, { body: Buffer.from('x') }),
  'download-plain': header(CRATE, 'content-encoding', 'gzip'),
  'download-missing': status(CRATE, 200),
  'crate-archive': evil('not gzip'),
  'crate-folder': evil('two top folders'),
  'crate-kinds': evil('symlink'),
  'crate-manifest': evil('no manifest'),
  'crate-identity': on(CRATE, { body: Buffer.from(other) }),
  'crate-deps': line('deps', []),
  'crate-features': line('features', { more: [] }),
  'crate-rust-version': line('rust_version', '1.99'),
  'download-cache': header(CRATE, 'cache-control', 'no-store'),

  'private-auth': set('auth-required', undefined),
  'private-bad-token': where(CONFIG, 'authorization', /wrong/, { status: 403 }),
  'private-missing': status(MISSING, 401),
  'private-challenge': header(CONFIG, 'www-authenticate', 'Cargo login_url="/me"'),
  'private-index': status(INDEX, 200, 401),
  'private-download': status(CRATE, 200, 401),
  'private-search': status(SEARCH, 200, 401, 403),
  'public-auth': set('auth-required', true),

  'search-shape': json(SEARCH, ({ crates }) => ({ results: crates })),
  'search-versions': answering('max_version', null),
  'search-total': json(SEARCH, ({ crates }) => ({ crates, meta: {} })),
  'search-count': json(SEARCH, ({ crates }) => ({ crates, meta: { total: 1 } })),
  'search-found': json(/per_page=10$/, ({ meta }) => ({ crates: [], meta })),
  'search-first': json(SEARCH, ({ crates, ...rest }) => ({
    crates: (crates as Json[]).reverse(),
    ...rest,
  })),
  'search-words': status(/%20/, 400),
  'search-plus': status(/%2B/, 400),
  'api-redirect': on(/per_page=1$/, (_, { url }) => ({
    status: 302,
    headers: { location: `${url}0` },
  })),
  'api-bad-token': status(OWNERS, 500),
  'api-reasons': on(OWNERS, { body: Buffer.from('no') }),
  'api-login': status(/\/me$/, 404),

  'publish-done': json(NEW, () => ({ errors: [] })),
  'publish-least': later(NEW, { status: 500 }),
  'publish-unicode': later(NEW, { status: 500 }),
  'publish-warnings': json(NEW, () => ({ warnings: { other: null } })),
  'publish-together': later(NEW, { status: 503 }),
  'publish-seen': status(/-base$/, 404),
  'publish-changed': cached(/-base$/),
  'publish-kept': text(/-base$/, file => file.split('\n').slice(-2).join('\n')),
  'publish-capitals': line('name', 'check-lower'),
  'publish-build': line('vers', '1.0.0-rc.1'),
  'publish-bytes': on(CRATE, { body: Buffer.from('x') }),
  'publish-rename': dep('name', 'base'),
  'publish-optional': dep('optional', false),
  'publish-kinds': dep('kind', 'normal'),
  'publish-target': dep('target', null),
  'publish-req': dep('req', '*'),
  'publish-own': dep('registry', 'https://example.com/'),
  'publish-crates-io': dep('registry', null),
  'publish-features': line('features', {}),
  'publish-strong': line('features2', {}),
  'publish-weak': line('features2', {}),
  'publish-links': line('links', null),
  'publish-rust-version': line('rust_version', null),

  ...Object.fromEntries(TAKEN.map(id => [id, on(NEW, GOOD)])),
  'refuse-traces': status(/-refused-/, 200),
  'refuse-broken': later(NEW, { status: 500 }),
  'refuse-reasons': refused({ status: 400, body: Buffer.from('no') }),
  'refuse-status': refused({ status: 500 }),

  'yank-ok': on(YANK, { body: Buffer.alloc(0), status: 204 }),
  'yank-seen': line('yanked', false),
  'yank-changed': cached(/-yank$/),
  'yank-kept': text(/-yank$/, file => file.replace('"yanked":true', '"yanked":true,"v":2')),
  'yank-twice': json(YANK, () => ({ ok: false })),
  'unyank-ok': json(/\/unyank$/, () => ({ ok: false })),
  'unyank-seen': line('yanked', true),
  'yank-version': on(/9\.9\.9/, GOOD),
  'yank-token': status(YANK, 404, 403),
  'owners-list': json(OWNERS, ({ users }) => users),
  'owners-ids': json(OWNERS, () => ({ users: [{ id: 2 ** 32, login: 'a' }] })),
  'owners-unknown': json(OWNERS, () => ({ errors: [{ detail: 'no' }] })),
  'owners-added': json(OWNERS, ({ users }) => ({ users, ok: true })),
  'owners-last': json(OWNERS, ({ users }) => ({ users })),

  'git-smart': header(GIT, 'content-type', 'text/plain'),
  'git-head': on(GIT, { body: Buffer.from('0000') }),

  'cargo-resolve': toCargo(INDEX, { status: 403 }),
  'cargo-missing': toCargo(MISSING, { status: 403 }),
  'cargo-yanked': toCargo(INDEX, line('yanked', false)),
  'cargo-add': toCargo(INDEX, { status: 403 }),
  'cargo-info': toCargo(CRATE, { status: 404 }),
  'cargo-fetch': toCargo(CRATE, { status: 404 }),
  'cargo-search': toCargo(SEARCH, { status: 400 }),
  'cargo-login': toCargo(CONFIG, { status: 403 }),
  'cargo-publish': toCargo(NEW, { status: 400 }),
  'cargo-install': toCargo(CRATE, { status: 404 }),
  'cargo-owner': toCargo(OWNERS, { body: Buffer.from('{"users":[{}]}') }),
  'cargo-yank': toCargo(/yank$/, { body: Buffer.from('{}') }),
  'cargo-refusal': toCargo(/9\.9\.9/, { status: 404, body: Buffer.from('no') }),
}
