import assert from 'node:assert/strict'
import type { Fault } from '../support/recording-proxy.ts'
import { type Scenario, says } from './scenario.ts'

const BROKEN: Fault = { meets: 'answer', status: 500, body: 'out of order' }
const BUSY: Fault = { meets: 'answer', status: 429, headers: { 'retry-after': '1' } }
const NAMES = ['left', 'right', 'foo']
const on = (name: string) => `${name} = { version = "1", registry = "test" }`

/** Reading over a network that fails for a moment. */
export const faults: readonly Scenario[] = [
  {
    numbers: [50, 51, 52],
    title:
      'registry::sparse_retry_multiple, dl_retry_multiple, retry_too_many_requests, sparse_blocking_count: what Cargo asks for again comes whole',
    needs: ['api', 'sparse', 'faults'],
    async run(stage) {
      const [left = '', right = ''] = NAMES.map(on)
      const foo = { name: 'foo', toml: `[dependencies]\n${left}\n${right}` }
      await stage.publish({ name: 'left' }, { name: 'right' }, foo)
      const { requests, interfere } = stage.registry
      requests?.clear()
      const first = new Map<string, Fault>([
        ['/index/config.json', BROKEN],
        ['/index/3/f/foo', BUSY],
        ['/index/le/ft/left', BROKEN],
        ['/index/ri/gh/right', BROKEN],
        ['/crates/foo/foo-1.0.0.crate', BROKEN],
        ['/crates/left/left-1.0.0.crate', { meets: 'half' }],
        ['/crates/right/right-1.0.0.crate', BUSY],
      ])
      const met = new Set<string>()
      interfere?.(({ url }) => (met.has(url) ? undefined : met.add(url) && first.get(url)))
      // The tests' cargo does not try again unless configured to; this is Cargo's own default.
      const checked = await stage
        .cargo({ env: { CARGO_NET_RETRY: '3' } })
        .ok(stage.app(on('foo')), 'check')
      for (const name of NAMES) says(checked, `Checking ${name} v1.0.0 (registry \`test\`)`)
      const statuses = (url: string) => requests?.to('GET', url).map(({ status }) => status)
      for (const [url, fault] of first)
        assert.deepEqual(statuses(url), [fault.meets === 'answer' ? fault.status : 200, 200], url)
    },
  },
]
