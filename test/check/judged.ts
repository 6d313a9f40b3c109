import { gzipSync } from 'node:zlib'
import type { LoggedRequest } from '../support/request-log.ts'
import {
  all,
  CONFIG,
  CRATE,
  dep,
  header,
  INDEX,
  json,
  line,
  MISSING,
  NEW,
  OWNERS,
  on,
  SEARCH,
  type Switch,
  set,
  status,
  text,
} from './changes.ts'

const ODD = { toString: 1, valueOf: 1 }
const nested = (depth: number): unknown => (depth === 0 ? [] : [nested(depth - 1)])
const SUM = /\/[0-9a-f]{64}$/

const NO_PUBLISH = on(NEW, { status: 403, body: Buffer.from('{"errors":[{"detail":"no"}]}') })
const ZEROS = gzipSync(Buffer.alloc(65 * 1024 ** 2))
const NO_LINES = on(INDEX, { headers: {}, body: Buffer.alloc(0) })
const ODD_VALUES = all(
  ...['dl', 'api', 'auth-required'].map(key => set(key, ODD)),
  ...['name', 'vers', 'v', 'features2', 'yanked'].map(key => line(key, ODD)),
)

/** What is judged in another way than it seems at first: the statement, and what comes of it. */
export const judged: readonly (readonly [id: string, status: string, Switch])[] = [
  ['file-4', 'fail', NO_LINES],
  ['missing-denied', 'fail', status(MISSING, 400)],
  ['missing-denied', 'pass', status(MISSING, 503)],
  ['line-json', 'untried', NO_LINES],
  ['line-keys', 'untried', NO_LINES],
  ['line-json', 'untried', on(INDEX, { headers: { 'content-encoding': 'gzip' }, body: ZEROS })],
  ['line-keys', 'pass', line('more', nested(99))],
  ['line-v', 'fail', line('v', -1)],
  ['line-vers', 'fail', line('vers', ODD)],
  ['line-once', 'pass', line('name', ODD)],
  ['line-name-file', 'fail', line('name', ODD)],
  ['line-features2-v', 'pass', all(line('features2', null), line('v', undefined))],
  ['line-features2-v', 'fail', line('v', ODD)],
  ['line-feature-values', 'untried', line('deps', null)],
  ['line-feature-values', 'fail', line('features', { 'a b': [] })],
  ['dep-optional', 'fail', dep('lib', null)],
  ['dep-name', 'fail', dep('name', ODD)],
  ['config-api-url', 'fail', ODD_VALUES],
  ['config-api-slash', 'pass', ODD_VALUES],
  ['http-guarded', 'pass', header(INDEX, 'cache-control', 'public, no-store')],
  [
    'private-challenge',
    'pass',
    header(CONFIG, 'www-authenticate', 'Basic realm="a", Cargo a="b", login_url="https://a/"'),
  ],
  ['crate-deps', 'untried', on(CRATE, { body: Buffer.from('x') })],
  [
    'download-missing',
    'pass',
    all(
      text(CONFIG, (config, host) =>
        JSON.stringify({ ...JSON.parse(config), dl: `http://${host}/{sha256-checksum}` }),
      ),
      (reply, { url }) =>
        SUM.test(url) &&
        !/0{64}$/.test(url) &&
        on(SUM, { status: 200 })(reply, { url } as LoggedRequest),
    ),
  ],
  ['search-versions', 'untried', json(SEARCH, ({ meta }) => ({ crates: [], meta }))],
  ['search-count', 'fail', json(SEARCH, ({ crates }) => ({ crates, meta: { total: ODD } }))],
  ['owners-ids', 'fail', json(OWNERS, () => ({ users: [{ id: ODD, login: ODD }] }))],
  ['publish-done', 'fail', NO_PUBLISH],
  ...[
    'publish-warnings',
    'publish-least',
    'publish-unicode',
    'publish-together',
    'refuse-broken',
    'refuse-vers',
    'refuse-token',
    'refuse-reasons',
    'refuse-traces',
  ].map(id => [id, 'untried', NO_PUBLISH] as const),
]
