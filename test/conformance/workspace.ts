import assert from 'node:assert/strict'
import { send } from '../support/raw-publish.ts'
import { withoutReadingTime } from '../support/reading-time.ts'
import { dependency } from '../support/release.ts'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

/** Several publishes at once. */
export const workspace: readonly Scenario[] = [
  scenario(
    8,
    'publish::wait_for_workspace_publish: two leaves in a row, then what depends on them',
    ['api', 'sparse'],
    async stage => {
      const on = (name: string) =>
        `${name} = { path = "../${name}", version = "1.0", registry = "test" }`
      const { folder, members } = stage.workspace(
        { name: 'trunk', toml: `[dependencies]\n${on('left')}\n${on('right')}` },
        { name: 'left' },
        { name: 'right' },
      )
      const published = await stage
        .cargo()
        .ok(folder, 'publish', '--workspace', '--registry', 'test', '--allow-dirty')
      const uploads = [
        ...published.stderr.matchAll(/^ +Uploaded (\w+) v1\.0\.0 to registry `test`$/gm),
      ].map(match => match[1])
      assert.deepEqual(uploads.slice(0, 2).sort(), ['left', 'right'])
      assert.deepEqual(uploads.slice(2), ['trunk'])
      assert.equal(stage.registry.requests.to('PUT', '/api/v1/crates/new').length, 3)
      const [trunk] = members
      assert.ok(trunk)
      const deps = [dependency('left', '^1.0'), dependency('right', '^1.0')]
      assert.equal(
        withoutTimes(await stage.index('tr/un/trunk')),
        await indexLine(stage, trunk, { deps }),
      )
      const checked = await stage
        .cargo()
        .ok(stage.app('trunk = { version = "1", registry = "test" }'), 'check')
      for (const name of ['left', 'right', 'trunk'])
        says(checked, `Checking ${name} v1.0.0 (registry \`test\`)`)
    },
  ),

  scenario(
    8,
    'publish::workspace_parallel: publishes of several clients at once all land',
    ['api'],
    async stage => {
      const names = ['north', 'south', 'east', 'west']
      const crates = names.map(name => stage.crate({ name }))
      await Promise.all(crates.map(crate => stage.registry.publish(stage.cargo(), [crate])))
      for (const crate of crates) {
        const { name } = crate
        const line = await stage.index(`${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`)
        assert.equal(withoutTimes(line), await indexLine(stage, crate))
      }
    },
  ),

  scenario(8, 'of two publishes of one version at once, exactly one wins', ['api'], async stage => {
    const rivals = ['one', 'two'].map(word =>
      stage.crate({ name: 'foo', files: { 'src/lib.rs': `pub const WORD: &str = "${word}";` } }),
    )
    const args = ['publish', '--no-verify', '--allow-dirty', '--registry', 'test']
    const runs = await Promise.all(rivals.map(({ folder }) => stage.cargo().run(folder, ...args)))
    assert.deepEqual(
      runs.map(({ code }) => code).sort(),
      [0, 101],
      runs.map(({ stderr }) => stderr).join('\n'),
    )
    for (const loser of runs.filter(({ code }) => code === 101)) says(loser, /foo.*1\.0\.0/)
    const [foo] = rivals
    assert.ok(foo)
    assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo))
  }),

  scenario(
    9,
    'publish::workspace_publish_rate_limit_error: the one too many stops the rest, and nothing of it is stored',
    ['api', 'sparse', 'headers'],
    async stage => {
      const names = ['east', 'north', 'south']
      const { folder } = stage.workspace(...names.map(name => ({ name })))
      const args = ['publish', '--workspace', '--no-verify', '--allow-dirty', '--registry', 'test']
      const stopped = await withoutReadingTime(() => stage.cargo().fails(folder, ...args))
      const [, refused] =
        /failed to publish (\w+) v1\.0\.0 to registry at/.exec(stopped.stderr) ?? []
      assert.ok(refused, stopped.stderr)
      says(
        stopped,
        /the remote server responded with an error \(status 429 Too Many Requests\): too many publishes/,
      )
      const [taken, limited] = [200, 429].map(status =>
        stage.registry.requests
          .to('PUT', '/api/v1/crates/new')
          .filter(request => request.status === status),
      )
      assert.equal(taken?.length, 2)
      assert.equal(limited?.length, 1)
      assert.match(String(limited?.[0]?.responseHeaders['retry-after']), /^([1-9]|[12]\d|30)$/)
      for (const name of names) {
        const paths = [
          `/index/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`,
          `/crates/${name}/${name}-1.0.0.crate`,
        ]
        for (const path of paths) {
          assert.equal(
            (await send('GET', stage.registry, path)).status,
            name === refused ? 404 : 200,
            path,
          )
        }
      }
      const found = await stage.cargo().ok(stage.folder, 'search', '--registry', 'test', refused)
      assert.equal(found.stdout, '')
    },
    { since: 90, settings: { PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '2' } },
  ),

  scenario(
    20,
    'publish::checksum_changed: a changed copy of a release is tried against the copy, and never replaces it',
    ['api', 'sparse'],
    async stage => {
      const [dep] = await stage.publish({ name: 'dep' })
      assert.ok(dep)
      const { folder } = stage.workspace(
        { name: 'dep', files: { 'src/lib.rs': 'pub const NEW: u8 = 1;' } },
        {
          name: 'foo',
          toml: '[dependencies]\ndep = { path = "../dep", version = "1", registry = "test" }',
          files: { 'src/lib.rs': 'pub use dep::NEW;' },
        },
      )
      stage.registry.requests.clear()
      const args = ['publish', '--workspace', '--allow-dirty', '--registry', 'test']
      const tried = await stage.cargo().ok(folder, ...args, '--dry-run')
      says(tried, 'crate dep@1.0.0 already exists on `test` index')
      says(tried, 'Verifying foo v1.0.0')
      says(
        await stage.cargo().fails(folder, ...args),
        'crate dep@1.0.0 already exists on `test` index',
      )
      const sent = stage.registry.requests.lines.filter(line => line.includes('/api/'))
      assert.deepEqual(sent, [])
      assert.equal(withoutTimes(await stage.index('3/d/dep')), await indexLine(stage, dep))
    },
    { since: 90 },
  ),
]
