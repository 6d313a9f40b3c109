import { gzipSync } from 'node:zlib'
import { CRATES_IO } from '../../core/urls/urls.ts'
import { buildCrate, buildEvil, type Trick } from '../support/crate-builder.ts'
import type { Asked, Json, Reply, Switch } from './server.ts'

const set = (key: string, value: unknown): Switch => ({
  config: config => Object.assign(config, { [key]: value }),
})
const inConfig = (change: (text: string) => string): Switch => ({
  text: (text, path) => (path === 'config.json' ? change(text) : text),
})
const inFile = (change: (text: string, path: string) => string): Switch => ({
  text: (text, path) => (path === 'config.json' ? text : change(text, path)),
})
const line = (key: string, value: unknown): Switch => ({
  line: line => Object.assign(line, { [key]: value }),
})
const dep = (key: string, value: unknown): Switch => ({
  line: ({ deps }) => (deps as Json[]).map(each => Object.assign(each, { [key]: value })),
})
const on = (path: RegExp, change: (reply: Reply, asked: Asked) => unknown): Switch => ({
  reply: (reply, asked) => path.test(asked.path) && change(reply, asked),
})
const header = (path: RegExp, name: string, value: string): Switch =>
  on(path, ({ headers }) => Object.assign(headers, { [name]: value }))
const noHeader = (path: RegExp, name: string): Switch =>
  on(path, ({ headers }) => Reflect.deleteProperty(headers, name))
const status = (path: RegExp, to: number, from?: number): Switch =>
  on(path, reply => reply.status === (from ?? reply.status) && Object.assign(reply, { status: to }))
const json = (path: RegExp, change: (value: Json) => unknown): Switch =>
  on(path, reply => {
    const value = JSON.parse(String(reply.body)) as Json
    const next = change(value)
    reply.body = Buffer.from(JSON.stringify(next ?? value))
  })
const found = (key: string, value: unknown): Switch =>
  json(
    SEARCH,
    ({ crates }) => void (crates as Json[]).map(each => Object.assign(each, { [key]: value })),
  )
const evil = (trick: Trick): Switch => ({
  bytes: () => buildEvil(trick, { name: 'a', version: '1.0.0' }),
})
const guarded = (wrong: Switch): Switch => ({ ...wrong, isPrivate: true })
/** What is right elsewhere is answered as to somebody with the token. */
const open = (path: RegExp, body: string): Switch =>
  guarded(
    on(
      path,
      reply => reply.status > 400 && Object.assign(reply, { status: 200, body: Buffer.from(body) }),
    ),
  )

const CONFIG = /^\/index\/config\.json$/
const INDEX = /^\/index\/(?!config)/
const CRATE = /^\/dl\//
const SEARCH = /^\/api\/v1\/crates\?/
const GIT = /^\/index\.git\//
const MISSING = /zq[0-9a-f]{10}/
const NEW = /crates\/new$/
const OWNERS = /\/owners$/

/** Refuses publishes whose body has a text. */
const onPublish = (text: RegExp, change: Partial<Reply>): Switch =>
  on(NEW, (reply, { body }) => text.test(body.toString('latin1')) && Object.assign(reply, change))
const record = (change: Json): Switch => ({ publish: line => Object.assign(line, change) })
const recordDep = (change: Json): Switch => ({
  publish: ({ deps }) => (deps as Json[]).map(each => Object.assign(each, change)),
})
/** Takes what it would refuse for such reasons. */
const takes = (ids: string, reasons: string): Record<string, Switch> =>
  Object.fromEntries(
    ids.split(' ').map(id => [id, { takes: reason => reasons.split(' ').includes(reason) }]),
  )
const isCargo = ({ headers }: Asked) => !/plimsoll/.test(String(headers['user-agent']))
/** Wrong to Cargo itself. */
const toCargo = (path: RegExp, change: Partial<Reply>): Switch =>
  on(path, (reply, asked) => isCargo(asked) && Object.assign(reply, change))
/** Answers of 200 are 404 at first. */
const late = (path: RegExp) => {
  let looks = 0
  return (reply: Reply, asked: Asked) =>
    path.test(asked.path) &&
    reply.status === 200 &&
    looks++ < 3 &&
    Object.assign(reply, { status: 404 })
}

const done = (reply: Reply) =>
  Object.assign(reply, { status: 200, body: Buffer.from('{"ok":true}') })
/** Texts are others once a line was yanked. */
const touched = () => {
  let isTouched = false
  return (text: string) => {
    isTouched ||= text.includes('"yanked":true')
    return isTouched ? text.replaceAll(',"', ', "') : text
  }
}

/** How the server is made wrong, so that a statement fails: by the statement's id. */
export const switches: Readonly<Record<string, Switch>> = {
  'config-found': status(CONFIG, 404),
  'config-json': inConfig(text => `[${text}]`),
  'config-dl': set('dl', undefined),
  'config-dl-url': set('dl', '/dl'),
  'config-dl-markers': set('dl', 'https://example.com/{name}/{version}'),
  'config-api': set('api', 7),
  'config-api-url': set('api', 'example.com/api'),
  'config-api-slash': set('api', 'https://example.com/'),
  'config-auth': set('auth-required', null),
  'config-keys': inConfig(text => text.replace('{', '{"dl":"x",')),
  'config-bom': inConfig(text => `\uFEFF${text}`),
  'config-here': { name: 'sparse+https://crates.example.com/index/' },
  'config-secure': { name: 'sparse+https://crates.example.com/index/' },
  'config-small': set('note', 'x'.repeat(5000)),
  'config-fresh': header(CONFIG, 'cache-control', 'max-age=1000000'),

  'file-1': status(/^\/index\/1\//, 404),
  'file-2': status(/^\/index\/2\//, 404),
  'file-3': status(/^\/index\/3\//, 404),
  'file-4': status(/^\/index\/ba\/se\//, 404),
  'file-lower': status(/mixedcase/, 404),
  'file-lines': inFile((text, path) => (path === '1/a' ? '' : text)),
  'file-bom': inFile(text => `\uFEFF${text}`),
  'file-utf8': on(INDEX, reply =>
    Object.assign(reply, { headers: {}, body: Buffer.from([255, 10]) }),
  ),
  'missing-page': status(MISSING, 200),
  'missing-gone': status(MISSING, 410),
  'missing-denied': status(MISSING, 403),
  'missing-failed': status(MISSING, 500),
  'missing-short': status(/\/zq$/, 400),
  'file-newline': inFile(text => text.replaceAll('\n', '\r\n')),
  'missing-small': on(MISSING, reply => Object.assign(reply, { body: Buffer.alloc(2000, ' ') })),
  'missing-cached': header(MISSING, 'cache-control', 'public, max-age=300'),

  'line-json': inFile(text => `oops\n${text}`),
  'line-name': line('name', 'a name'),
  'line-name-file': line('name', 'another'),
  'line-vers': line('vers', 'v1.0.0'),
  'line-deps': line('deps', null),
  'line-cksum': { line: each => Object.assign(each, { cksum: String(each.cksum).toUpperCase() }) },
  'line-features': line('features', null),
  'line-yanked': line('yanked', 'false'),
  'line-links': line('links', 7),
  'line-v': line('v', '2'),
  'line-features2': line('features2', []),
  'line-rust-version': line('rust_version', '^1.60'),
  'line-once': inFile(text => text + text),
  'line-once-build': inFile(text => text + text.replace('"1.0.0"', '"1.0.0+a"')),
  'line-keys': inFile(text => text.replaceAll('{"name"', '{"v":1,"v":1,"name"')),
  'line-names-agree': inFile(text => text + text.replace('"a"', '"A"')),
  'line-pubtime': line('pubtime', '2026-11-20T12:00:00.000Z'),
  'line-feature-names': line('features', { 'a b': [] }),
  'line-feature-values': line('features', { one: ['none'] }),
  'line-reachable': {
    line: line => Object.assign(line, { features: { other: [] }, features2: undefined }),
  },
  'line-v-known': line('v', 3),
  'line-all': line('yanked', undefined),
  'line-features2-v': line('v', 1),
  'line-known': line('note', 'x'),
  'line-name-length': line('name', 'a'.repeat(65)),
  'line-pubtime-there': line('pubtime', undefined),

  'dep-name': dep('name', ''),
  'dep-req': dep('req', 'v1'),
  'dep-features': dep('features', null),
  'dep-optional': dep('optional', null),
  'dep-default-features': dep('default_features', null),
  'dep-target': dep('target', 'cfg('),
  'dep-registry': dep('registry', 'team'),
  'dep-package': dep('package', ''),
  'dep-dev-optional': dep('optional', true),
  'dep-artifact': dep('artifact', 'bin'),
  'dep-bindep-target': dep('bindep_target', 7),
  'dep-lib': dep('lib', null),
  'dep-public': dep('public', 'yes'),
  'dep-found': dep('package', 'nowhere'),
  'dep-met': dep('req', '^9'),
  'dep-kind': dep('kind', null),
  'dep-all': dep('default_features', undefined),
  'dep-crates-io': dep('registry', 'sparse+https://index.crates.io/'),
  'dep-own': { ...dep('registry', CRATES_IO), name: CRATES_IO },

  'http-etag-ascii': header(INDEX, 'etag', '"\u00e9"'),
  'http-changed': on(
    INDEX,
    (reply, { headers }) => headers['if-none-match'] && Object.assign(reply, { status: 304 }),
  ),
  'http-unconditional': on(
    INDEX,
    (reply, { headers }) =>
      /somebody/.test(String(headers['user-agent'])) && Object.assign(reply, { status: 304 }),
  ),
  'http-agent': on(
    INDEX,
    (reply, { headers }) =>
      /somebody/.test(String(headers['user-agent'])) && Object.assign(reply, { status: 403 }),
  ),
  'http-encodings': header(INDEX, 'content-encoding', 'br'),
  'http-unasked': on(
    INDEX,
    ({ headers }, { headers: { 'accept-encoding': asked } }) =>
      asked === 'identity' && Object.assign(headers, { 'content-encoding': 'gzip' }),
  ),
  'http-same': on(
    INDEX,
    (reply, { headers: { 'accept-encoding': asked } }) =>
      asked !== 'identity' && Object.assign(reply, { body: gzipSync('{}') }),
  ),
  'http-h2c': on(
    CONFIG,
    (reply, { headers }) => headers.upgrade && Object.assign(reply, { status: 426 }),
  ),
  'http-validator': noHeader(INDEX, 'etag'),
  'http-304': status(INDEX, 200, 304),
  'http-vary': noHeader(INDEX, 'vary'),
  'http-guarded': guarded(header(INDEX, 'cache-control', 'public, max-age=60')),
  'http-fresh': header(INDEX, 'cache-control', 'max-age=600'),
  'http-age': header(INDEX, 'age', '600'),
  'http-cookies': header(INDEX, 'set-cookie', 'a=b'),
  'http-gzip': on(INDEX, reply =>
    Object.assign(reply, { headers: {}, body: Buffer.from('{"a":1}\n'.repeat(999)) }),
  ),
  'http-304-etag': on(
    INDEX,
    ({ status, headers }) => status === 304 && Reflect.deleteProperty(headers, 'etag'),
  ),
  'http-type': header(INDEX, 'content-type', 'text/html'),

  'download-found': status(CRATE, 206),
  'download-yanked': status(/^\/dl\/base\/0\.9\.0/, 404),
  'download-build': status(/^\/dl\/base\/1\.1\.0\+/, 404),
  'download-cksum': { bytes: bytes => Buffer.concat([bytes, Buffer.from('x')]) },
  'download-plain': header(CRATE, 'content-encoding', 'gzip'),
  'download-same': { bytes: bytes => Buffer.concat([bytes, Buffer.from(String(Math.random()))]) },
  'download-missing': status(CRATE, 200),
  'crate-archive': evil('not gzip'),
  'crate-folder': evil('two top folders'),
  'crate-kinds': evil('symlink'),
  'crate-manifest': evil('no manifest'),
  'crate-identity': {
    bytes: () =>
      buildCrate({
        name: 'a',
        version: '1.0.0',
        manifest: '[package]\nname = "b"\nversion = "1.0.0"\n',
      }),
  },
  'crate-deps': line('deps', []),
  'crate-features': line('features', { more: [] }),
  'crate-links': line('links', 'river'),
  'crate-rust-version': line('rust_version', '1.99'),
  'download-missing-404': status(CRATE, 403, 404),
  'download-type': header(CRATE, 'content-type', 'text/html'),
  'download-length': on(CRATE, reply =>
    Object.assign(reply, { headers: { 'transfer-encoding': 'chunked' } }),
  ),
  'download-cache': header(CRATE, 'cache-control', 'no-store'),
  'download-cors': noHeader(CRATE, 'access-control-allow-origin'),

  'private-config': guarded(
    on(
      CONFIG,
      (reply, { headers }) => headers.authorization && Object.assign(reply, { status: 403 }),
    ),
  ),
  'private-auth': guarded(set('auth-required', undefined)),
  'private-bad-token': guarded(
    on(
      CONFIG,
      (reply, { headers }) =>
        headers.authorization && reply.status === 401 && Object.assign(reply, { status: 403 }),
    ),
  ),
  'private-missing': guarded(status(MISSING, 401)),
  'private-challenge': guarded(noHeader(CONFIG, 'www-authenticate')),
  'private-login-url': guarded(header(CONFIG, 'www-authenticate', 'Cargo login_url="/me"')),
  'private-login-page': guarded(status(/^\/me$/, 404)),
  'private-index': open(INDEX, '{}'),
  'private-index-bad': open(INDEX, '{}'),
  'private-download': open(CRATE, ''),
  'private-search': open(SEARCH, '{}'),
  'public-auth': set('auth-required', true),

  'search-shape': json(SEARCH, ({ crates }) => ({ results: crates })),
  'search-names': found('name', null),
  'search-versions': found('max_version', null),
  'search-descriptions': found('description', 7),
  'search-total': json(SEARCH, value => Object.assign(value, { meta: {} })),
  'search-count': json(SEARCH, ({ crates }) => ({
    crates,
    meta: { total: (crates as Json[]).length },
  })),
  'search-limit': json(SEARCH, ({ crates, meta }) => ({
    crates: [...(crates as Json[]), ...(crates as Json[])],
    meta,
  })),
  'search-default': on(/\?q=$/, reply => Object.assign(reply, { status: 400 })),
  'search-hundred': status(/per_page=100$/, 400),
  'search-found': json(/per_page=10$/, () => ({ crates: [], meta: { total: 0 } })),
  'search-nothing': json(MISSING, () => ({
    crates: [{ name: 'a', max_version: '1.0.0' }],
    meta: { total: 1 },
  })),
  'search-unknown': status(/plimsoll=check/, 400),
  'search-words': status(/%20/, 400),
  'search-plus': status(/%2B/, 400),
  'api-login': status(/^\/me$/, 404),
  'api-redirect': on(/per_page=1$/, (reply, { path }) =>
    Object.assign(reply, { status: 302, headers: { location: `${path}0` } }),
  ),
  'api-bad-token': status(OWNERS, 500),
  'search-first': json(SEARCH, ({ crates, meta }) => ({
    crates: (crates as Json[]).reverse(),
    meta,
  })),
  'search-case': on(/q=A/, reply => Object.assign(reply, { status: 404 })),
  'search-type': header(SEARCH, 'content-type', 'text/plain'),
  'api-reasons': on(OWNERS, reply => Object.assign(reply, { body: Buffer.from('no') })),
  'api-route': status(/none\/at\/all/, 405),

  'publish-done': json(NEW, () => ({ errors: [] })),
  'publish-least': onPublish(/-least/, { status: 500 }),
  'publish-more': onPublish(/plimsoll"/, { status: 500 }),
  'publish-unicode': onPublish(/-unicode/, { status: 500 }),
  'publish-warnings': json(NEW, () => ({ warnings: { other: null } })),
  'publish-seen': inFile((text, path) => (/-base$/.test(path) ? '' : text)),
  'publish-changed': on(
    /-base$/,
    (reply, { headers }) => headers['if-none-match'] && Object.assign(reply, { status: 304 }),
  ),
  'publish-etag': header(/-base$/, 'etag', '"one"'),
  'publish-kept': inFile((text, path) =>
    /-base$/.test(path) ? text.split('\n').slice(-2).join('\n') : text,
  ),
  'publish-together': onPublish(/-together/, { status: 503 }),
  'publish-capitals': record({ name: 'check-lower' }),
  'publish-build': record({ vers: '1.0.0-rc.1' }),
  'publish-cksum': record({ cksum: '0'.repeat(64) }),
  'publish-bytes': { bytes: () => buildCrate({ name: 'a', version: '1.0.0' }) },
  'publish-yanked': record({ yanked: true }),
  'publish-rename': recordDep({ name: 'base' }),
  'publish-optional': recordDep({ optional: false }),
  'publish-kinds': recordDep({ kind: 'normal' }),
  'publish-target': recordDep({ target: null }),
  'publish-req': recordDep({ req: '*' }),
  'publish-own': recordDep({ registry: 'https://example.com/' }),
  'publish-crates-io': recordDep({ registry: null }),
  'publish-features': record({ features: {} }),
  'publish-strong': record({ features2: {} }),
  'publish-weak': record({ features2: {} }),
  'publish-links': record({ links: null }),
  'publish-rust-version': record({ rust_version: null }),
  'publish-at-once': { reply: late(/-base$/) },

  ...takes('refuse-twice refuse-twice-build refuse-twice-yanked', 'version_taken'),
  ...takes('refuse-case refuse-hyphen', 'name_taken'),
  ...takes('refuse-symlink refuse-hardlink', 'archive_type'),
  ...takes('refuse-beside refuse-parent refuse-absolute', 'archive_root archive_path'),
  ...takes('refuse-identity refuse-name refuse-name-empty refuse-vers', 'metadata_identity'),
  ...takes(
    'refuse-deps refuse-dep-name refuse-dep-req refuse-dep-registry',
    'metadata_dependency_extra',
  ),
  ...takes('refuse-features refuse-value', 'metadata_feature'),
  ...takes('refuse-gzip', 'archive_not_gzip'),
  ...takes('refuse-json refuse-empty', 'metadata frame'),
  ...takes('refuse-short', 'frame'),
  ...takes('refuse-anonymous refuse-token', 'token'),
  'refuse-traces': on(/-refused-/, reply => Object.assign(reply, { status: 200 })),
  'refuse-kept': takes('x', 'version_taken').x ?? {},
  'refuse-broken': onPublish(/-broken/, { status: 500 }),
  'refuse-reasons': on(
    NEW,
    reply =>
      /errors/.test(String(reply.body)) &&
      Object.assign(reply, { status: 400, body: Buffer.from('no') }),
  ),
  'refuse-status': on(
    NEW,
    reply => /errors/.test(String(reply.body)) && Object.assign(reply, { status: 500 }),
  ),

  'yank-ok': on(/\/yank$/, reply => Object.assign(reply, { body: Buffer.alloc(0), status: 204 })),
  'yank-seen': { ignores: ({ method }) => method === 'DELETE' },
  'yank-changed': on(
    /-yank$/,
    (reply, { headers }) => headers['if-none-match'] && Object.assign(reply, { status: 304 }),
  ),
  'yank-download': status(/^\/dl\/.*-yank/, 404),
  'yank-twice': json(/\/yank$/, () => ({ ok: false })),
  'unyank-ok': json(/\/unyank$/, () => ({ ok: false })),
  'unyank-seen': { ignores: ({ path }) => /\/unyank$/.test(path) },
  'unyank-same': inFile(touched()),
  'yank-version': on(/9\.9\.9/, done),
  'yank-crate': on(/-none\//, done),
  'yank-token': status(/\/yank$/, 404, 403),
  'owners-list': json(OWNERS, ({ users }) => users),
  'owners-ids': json(OWNERS, () => ({ users: [{ id: 2 ** 32, login: 'a' }] })),
  'owners-logins': json(OWNERS, () => ({ users: [{ id: 1, login: null }] })),
  'owners-unknown': json(OWNERS, () => ({ errors: [{ detail: 'no' }] })),
  'owners-added': json(OWNERS, value => ({ users: value.users, ok: true })),
  'owners-last': json(OWNERS, ({ users }) => ({ users })),
  'owners-nowhere': on(/-none\/owners/, done),
  'search-published': json(SEARCH, () => ({ crates: [], meta: { total: 0 } })),

  'git-smart': { isGit: true, ...header(GIT, 'content-type', 'text/plain') },
  'git-head': {
    isGit: true,
    ...on(GIT, reply => Object.assign(reply, { body: Buffer.from('0000') })),
  },
  'git-service': {
    isGit: true,
    ...on(GIT, reply => Object.assign(reply, { body: Buffer.from('0000') })),
  },

  'cargo-resolve': toCargo(INDEX, { status: 403 }),
  'cargo-fetch': toCargo(CRATE, { status: 404 }),
  'cargo-update': on(
    INDEX,
    (reply, asked) =>
      asked.headers['if-none-match'] && isCargo(asked) && Object.assign(reply, { status: 403 }),
  ),
  'cargo-missing': toCargo(MISSING, { status: 403 }),
  'cargo-info': toCargo(CRATE, { status: 404 }),
  'cargo-search': toCargo(SEARCH, { status: 400 }),
  'cargo-login': toCargo(CONFIG, { status: 403 }),
  'cargo-publish': toCargo(NEW, { status: 400 }),
  'cargo-install': toCargo(CRATE, { status: 404 }),
  'cargo-owner': toCargo(OWNERS, { body: Buffer.from('{"users":[{}]}') }),
  'cargo-yank': toCargo(/yank$/, { body: Buffer.from('{}') }),
}
