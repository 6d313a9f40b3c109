import assert from 'node:assert/strict'
import { withoutReadingTime } from '../support/reading-time.ts'
import { type Scenario, says } from './scenario.ts'

const PUBLISH = ['publish', '--no-verify', '--allow-dirty', '--registry', 'test']
const VERBOSE = { CARGO_HTTP_DEBUG: 'true', CARGO_LOG: 'network=debug' }
const FOO = 'foo = { version = "1", registry = "test" }'

/** A member of a workspace that needs others of it. */
function member(name: string, ...needed: readonly string[]) {
  const lines = needed.map(
    on => `${on} = { path = "../${on}", version = "1.0", registry = "test" }`,
  )
  return { name, toml: `[dependencies]\n${lines.join('\n')}` }
}

/** Publishing by real Cargo, as far as it is ours. */
export const publish: readonly Scenario[] = [
  {
    numbers: [8, 9],
    title:
      'publish::wait_for_workspace_publish, workspace_publish_rate_limit_error: members in their order, and nothing of the one too many',
    needs: ['api', 'sparse', 'faults'],
    since: 90,
    settings: { PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '3' },
    async run(stage) {
      const folder = stage.workspace(
        member('crown', 'trunk'),
        member('trunk', 'left', 'right'),
        member('left'),
        member('right'),
      )
      const publishing = () => stage.cargo().fails(folder, ...PUBLISH, '--workspace')
      const stopped = await withoutReadingTime(publishing)
      const uploads = [...stopped.stderr.matchAll(/^ +Uploaded (\w+) v1\.0\.0 to/gm)]
      const names = uploads.map(([, name]) => name)
      assert.deepEqual([names.slice(0, 2).sort(), names.slice(2)], [['left', 'right'], ['trunk']])
      says(stopped, /failed to publish crown v1\.0\.0/)
      says(stopped, /\(status 429 Too Many Requests\): too many publishes/)
      for (const path of ['/index/cr/ow/crown', '/crates/crown/crown-1.0.0.crate'])
        assert.match(await stage.read(path), /^404 /, path)
      const app = stage.app('trunk = { version = "1", registry = "test" }')
      says(await stage.cargo().ok(app, 'check'), 'Checking trunk v1.0.0 (registry `test`)')
    },
  },
  {
    numbers: [5, 16],
    title: 'publish::api_curl_error: a publish whose answer is lost has happened once',
    needs: ['api', 'sparse', 'faults'],
    async run(stage) {
      const { registry } = stage
      const { folder } = stage.crate({ name: 'foo' })
      for (const isPassedOn of [false, true]) {
        registry.interfere?.(({ method }) =>
          method === 'PUT' ? { meets: 'silence', isPassedOn } : undefined,
        )
        says(await stage.cargo().fails(folder, ...PUBLISH), /Server returned nothing|curl|connect/i)
        registry.interfere?.()
        assert.match(await stage.read('/index/3/f/foo'), isPassedOn ? /^200 \{.*\}\n$/ : /^404 /)
      }
      const before = await stage.read('/index/3/f/foo')
      says(await stage.cargo().fails(folder, ...PUBLISH), /foo.*1\.0\.0 already exists/)
      assert.equal(await stage.read('/index/3/f/foo'), before)
    },
  },
  {
    numbers: [28],
    title: 'over TLS, Cargo speaks HTTP/2 with index, downloads and API, or HTTP/1.1 if it is to',
    needs: ['tls'],
    async run(stage) {
      const published = await stage
        .cargo({ env: VERBOSE })
        .ok(stage.crate({ name: 'foo' }).folder, ...PUBLISH)
      says(published, 'PUT /api/v1/crates/new HTTP/2')
      for (const [isTwo, spoken, other] of [
        [true, ' HTTP/2', ' HTTP/1.1'],
        [false, ' HTTP/1.1', ' HTTP/2'],
      ] as const) {
        const env = { ...VERBOSE, CARGO_HTTP_MULTIPLEXING: `${isTwo}` }
        const checked = await stage.cargo({ env }).ok(stage.app(FOO), 'check')
        says(checked, `GET /crates/foo/foo-1.0.0.crate${spoken}`)
        says(checked, `GET /index/3/f/foo${spoken}`)
        assert.ok(!checked.stderr.includes(other))
      }
    },
  },
]
