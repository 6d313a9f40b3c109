import assert from 'node:assert/strict'
import type { Fault, Faults } from '../support/recording-proxy.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

const FOO = 'foo = { version = "1", registry = "test" }'
const CRATE = '/crates/foo/foo-1.0.0.crate'
const BROKEN: Fault = { meets: 'answer', status: 500, body: 'out of order' }
/** The tests' cargo does not try again unless configured to; this is Cargo's own default. */
const RETRY = { env: { CARGO_NET_RETRY: '3' } }

/** Reading over a network that fails for a moment. */
export const faults: readonly Scenario[] = [
  scenario(
    50,
    'registry::sparse_retry_single, dl_retry_single: a 500 and then the answer, whole and fresh',
    ['api', 'sparse', 'faults'],
    async stage => {
      await stage.publish({ name: 'foo' })
      const { requests } = stage.registry
      requests.clear()
      stage.interfere(firstOf(['/index/config.json', '/index/3/f/foo', CRATE], BROKEN))
      const checked = await stage.cargo(RETRY).ok(stage.app(FOO), 'check')
      assert.equal(
        checked.stderr.match(/spurious network error \(3 tries remaining\)/g)?.length,
        3,
        checked.stderr,
      )
      says(checked, 'Checking foo v1.0.0 (registry `test`)')
      const twice = (path: string) => [`GET ${path} 500`, `GET ${path} 200`]
      assert.deepEqual(
        requests.lines,
        ['/index/config.json', '/index/3/f/foo', CRATE].flatMap(twice),
      )
    },
  ),

  scenario(
    50,
    'registry::sparse_retry_multiple, dl_retry_multiple: a 500 or half a download, for several crates at once',
    ['api', 'sparse', 'faults'],
    async stage => {
      const names = ['north', 'south', 'east']
      await stage.publish(...names.map(name => ({ name })))
      stage.registry.requests.clear()
      const files = names.map(name => `/index/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`)
      const crates = names.map(name => `/crates/${name}/${name}-1.0.0.crate`)
      // 1.96.0 retries broken answers only for downloads.
      const [refused, broken] = [firstOf(files, BROKEN), firstOf(crates, { meets: 'half' })]
      stage.interfere(request => refused(request) ?? broken(request))
      const app = stage.app(
        names.map(name => `${name} = { version = "1", registry = "test" }`).join('\n'),
      )
      const checked = await stage.cargo(RETRY).ok(app, 'check')
      for (const name of names) says(checked, `Checking ${name} v1.0.0 (registry \`test\`)`)
      const statuses = (path: string) =>
        stage.registry.requests.to('GET', path).map(request => request.status)
      for (const path of files) assert.deepEqual(statuses(path), [500, 200], path)
      for (const path of crates) assert.deepEqual(statuses(path), [200, 200], path)
    },
  ),

  scenario(
    51,
    'registry::retry_too_many_requests: a client that gets Retry-After comes again and succeeds',
    ['api', 'sparse', 'faults'],
    async stage => {
      await stage.publish({ name: 'foo' })
      const full: Fault = {
        meets: 'answer',
        status: 429,
        headers: { 'retry-after': '2' },
        body: 'too many',
      }
      const busy = firstOf(['/index/3/f/foo', CRATE], full)
      const asked: Record<string, number> = { '/index/3/f/foo': 0, [CRATE]: 0 }
      stage.interfere(request => {
        if (request.url in asked) asked[request.url] = (asked[request.url] ?? 0) + 1
        return busy(request)
      })
      says(
        await stage.cargo(RETRY).ok(stage.app(FOO), 'check'),
        'Checking foo v1.0.0 (registry `test`)',
      )
      assert.deepEqual(asked, { '/index/3/f/foo': 2, [CRATE]: 2 })
    },
  ),

  scenario(
    51,
    'with every limit at its lowest, reading goes on, and a search too many gets Retry-After',
    ['api', 'sparse', 'headers'],
    async stage => {
      const cargo = stage.cargo()
      await stage.registry.publish(cargo, [stage.crate({ name: 'foo' })])
      for (let count = 0; count < 5; count++) await cargo.ok(stage.app(FOO), 'fetch')
      const words = ['search', '--registry', 'test', 'foo']
      for (let count = 0; count < (stage.registry.daemons ?? 1); count++)
        assert.match((await cargo.ok(stage.folder, ...words)).stdout, /^foo = "1\.0\.0"/)
      const refused = await cargo.fails(stage.folder, ...words)
      says(
        refused,
        /the remote server responded with an error \(status 429 Too Many Requests\): too many searches/,
      )
      const answer = stage.registry.requests.all.at(-1)
      assert.match(String(answer?.responseHeaders['retry-after']), /^([1-9]|[1-5]\d|60)$/)
      const { lines } = stage.registry.requests
      assert.deepEqual(
        lines.filter(line => line.endsWith(' 429')),
        lines.slice(-1),
      )
    },
    {
      settings: {
        PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '1',
        PLIMSOLL_LIMITS_CHANGES_PER_MINUTE: '1',
        PLIMSOLL_LIMITS_LOGINS_PER_MINUTE: '1',
        PLIMSOLL_LIMITS_SEARCHES_PER_MINUTE: '1',
      },
    },
  ),

  scenario(
    52,
    'registry::sparse_blocking_count: configuration, crate, crate again, then its dependencies together',
    ['api', 'sparse', 'faults'],
    async stage => {
      const on = (name: string) => `${name} = { version = "1", registry = "test" }`
      const dependencies = ['[dependencies]', on('left'), on('right')].join('\n')
      await stage.publish({ name: 'left' }, { name: 'right' }, { name: 'bar', toml: dependencies })
      const { requests } = stage.registry
      requests.clear()
      stage.interfere(firstOf(['/index/3/b/bar'], BROKEN))
      await stage.cargo(RETRY).ok(stage.app(on('bar')), 'generate-lockfile')
      assert.deepEqual(requests.lines.slice(0, 3), [
        'GET /index/config.json 200',
        'GET /index/3/b/bar 500',
        'GET /index/3/b/bar 200',
      ])
      assert.deepEqual(requests.lines.slice(3).sort(), [
        'GET /index/le/ft/left 200',
        'GET /index/ri/gh/right 200',
      ])
    },
  ),
]

/** The first request for each path meets the fault. */
function firstOf(paths: readonly string[], fault: Fault): Faults {
  const left = new Set(paths)
  return ({ url }) => (left.delete(url) ? fault : undefined)
}
