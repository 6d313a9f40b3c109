import assert from 'node:assert/strict'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

/** The static way has nothing to write to, and the client has to hear that. */
export const noApi: readonly Scenario[] = [
  scenario(
    25,
    'alt_registry::no_api: the configuration has `dl` alone, dependencies work',
    ['no-api'],
    async stage => {
      await stage.publish({ name: 'foo' })
      const { baseUrl } = stage.registry
      assert.deepEqual(JSON.parse(await stage.index('config.json')), {
        dl: `${baseUrl}/crates/{crate}/{crate}-{version}.crate`,
      })
      await stage.cargo().ok(stage.app('foo = { version = "1", registry = "test" }'), 'check')
    },
  ),

  scenario(
    25,
    'alt_registry::no_api: publish, yank, owner and search say there is no API',
    ['no-api'],
    async stage => {
      await stage.publish({ name: 'bar' })
      stage.registry.requests.clear()
      const { folder } = stage.crate({ name: 'foo' })
      const commands = [
        ['publish', '--registry', 'test', '--token', 'any', '--allow-dirty'],
        ['yank', '--registry', 'test', '--token', 'any', 'foo@1.0.0'],
        ['owner', '--registry', 'test', '--token', 'any', '--list', 'foo'],
        ['search', '--registry', 'test', 'foo'],
      ]
      for (const command of commands) {
        says(
          await stage.cargo().fails(folder, ...command),
          'registry `test` does not support API commands',
        )
      }
      assert.deepEqual(
        stage.registry.requests.lines.filter(
          line => !/^GET \/index(\/config\.json|\.git\/\S+) /.test(line),
        ),
        [],
      )
    },
  ),
]
