import assert from 'node:assert/strict'
import { dependency, indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

/** Several publishes at once. */
export const workspace: readonly Scenario[] = [
  scenario(
    8,
    'publish::wait_for_workspace_publish: two leaves in a row, then what depends on them',
    ['api', 'sparse'],
    async stage => {
      const on = (name: string) => `${name} = { path = "../${name}", version = "1.0", registry = "test" }`
      const { folder, members } = stage.workspace(
        { name: 'trunk', toml: `[dependencies]\n${on('left')}\n${on('right')}` },
        { name: 'left' },
        { name: 'right' },
      )
      const published = await stage.cargo().ok(folder, 'publish', '--workspace', '--registry', 'test', '--allow-dirty')
      const uploads = [...published.stderr.matchAll(/^ +Uploaded (\w+) v1\.0\.0 to registry `test`$/gm)].map(
        one => one[1],
      )
      assert.deepEqual(uploads.slice(0, 2).sort(), ['left', 'right'])
      assert.deepEqual(uploads.slice(2), ['trunk'])
      assert.equal(stage.registry.requests.to('PUT', '/api/v1/crates/new').length, 3)
      const [trunk] = members
      assert.ok(trunk)
      const deps = [dependency('left', '^1.0'), dependency('right', '^1.0')]
      assert.equal(withoutTimes(await stage.index('tr/un/trunk')), await indexLine(stage, trunk, { deps }))
      const checked = await stage.cargo().ok(stage.app('trunk = { version = "1", registry = "test" }'), 'check')
      for (const name of ['left', 'right', 'trunk']) says(checked, `Checking ${name} v1.0.0 (registry \`test\`)`)
    },
  ),

  scenario(8, 'publish::workspace_parallel: publishes of several clients at once all land', ['api'], async stage => {
    const names = ['north', 'south', 'east', 'west']
    const crates = names.map(name => stage.crate({ name }))
    await Promise.all(crates.map(crate => stage.registry.publish(stage.cargo(), [crate])))
    for (const crate of crates) {
      const { name } = crate
      const line = await stage.index(`${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`)
      assert.equal(withoutTimes(line), await indexLine(stage, crate))
    }
  }),

  scenario(8, 'of two publishes of one version at once, exactly one wins', ['api'], async stage => {
    const rivals = ['one', 'two'].map(word =>
      stage.crate({ name: 'foo', files: { 'src/lib.rs': `pub const WORD: &str = "${word}";` } }),
    )
    const args = ['publish', '--no-verify', '--allow-dirty', '--registry', 'test']
    const runs = await Promise.all(rivals.map(({ folder }) => stage.cargo().run(folder, ...args)))
    assert.deepEqual(runs.map(({ code }) => code).sort(), [0, 101], runs.map(({ stderr }) => stderr).join('\n'))
    for (const loser of runs.filter(({ code }) => code === 101)) says(loser, /foo.*1\.0\.0/)
    const [foo] = rivals
    assert.ok(foo)
    assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo))
  }),
]
