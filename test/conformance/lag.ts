import assert from 'node:assert/strict'
import { send } from '../support/raw-publish.ts'
import type { Faults } from '../support/recording-proxy.ts'
import { dependency } from '../support/release.ts'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

/** An index that lags behind, as behind a faulty cache: Cargo waits for a minute. */
export const lag: readonly Scenario[] = [
  scenario(
    6,
    'publish::timeout_waiting_for_publish: the release is there, whatever the client has seen of it',
    ['api', 'sparse', 'faults'],
    async stage => {
      stage.interfere(stale('/index/3/f/foo'))
      const foo = stage.crate({ name: 'foo' })
      const args = ['publish', '--no-verify', '--allow-dirty', '--registry', 'test']
      const published = await stage.cargo().ok(foo.folder, ...args)
      says(
        published,
        /warning: timed out waiting for .*foo v1\.0\.0.* to be available in registry `test`/,
      )
      stage.interfere()
      assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo))
      const app = stage.app('foo = { version = "1", registry = "test" }')
      says(await stage.cargo().ok(app, 'check'), 'Checking foo v1.0.0 (registry `test`)')
    },
    { since: 66, isPatient: true },
  ),

  scenario(
    7,
    'publish::timeout_waiting_for_dependency_publish: what waits for it is not sent, and can be sent later',
    ['api', 'sparse', 'faults'],
    async stage => {
      stage.interfere(stale('/index/ba/se/base'))
      const { folder, members } = stage.workspace(
        { name: 'base' },
        {
          name: 'upper',
          toml: '[dependencies]\nbase = { path = "../base", version = "1", registry = "test" }',
        },
      )
      const args = ['publish', '--no-verify', '--allow-dirty', '--registry', 'test']
      const stopped = await stage.cargo().fails(folder, ...args, '--workspace')
      says(stopped, /unable to publish `?upper v1\.0\.0/)
      stage.interfere()
      const [base, upper] = members
      assert.ok(base && upper)
      assert.equal(withoutTimes(await stage.index('ba/se/base')), await indexLine(stage, base))
      assert.equal((await send('GET', stage.registry, '/index/up/pe/upper')).status, 404)
      says(
        await stage.cargo().ok(folder, ...args, '-p', 'upper'),
        'Published upper v1.0.0 at registry `test`',
      )
      const deps = [dependency('base', '^1')]
      assert.equal(
        withoutTimes(await stage.index('up/pe/upper')),
        await indexLine(stage, upper, { deps }),
      )
    },
    { since: 90, isPatient: true },
  ),
]

/** The index file is as it was before the first publish. */
function stale(path: string): Faults {
  return ({ url }) => (url === path ? { meets: 'answer', status: 404 } : undefined)
}
