import assert from 'node:assert/strict'
import { dependency } from '../support/release.ts'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

const FOO = 'foo = { version = "1", registry = "test" }'

/** Reading: Cargo's requests, and a build. */
export const resolve: readonly Scenario[] = [
  scenario(
    1,
    'publish::simple: a crate that depends on a release builds with it',
    [],
    async stage => {
      const [foo] = await stage.publish({
        name: 'foo',
        package: 'rust-version = "1.60"',
        files: { 'src/lib.rs': 'pub const ANSWER: u32 = 42;' },
      })
      assert.ok(foo)
      const app = stage.app(FOO, 'pub const TWICE: u32 = foo::ANSWER * 2;')
      const checked = await stage.cargo().ok(app, 'check')
      says(checked, 'Downloaded foo v1.0.0 (registry `test`)')
      says(checked, 'Checking foo v1.0.0 (registry `test`)')
      assert.equal(
        withoutTimes(await stage.index('3/f/foo')),
        await indexLine(stage, foo, { rust_version: '1.60' }),
      )
    },
  ),

  scenario(
    28,
    'registry::simple_http: a cold build is three requests, a second one none',
    ['sparse'],
    async stage => {
      await stage.publish({ name: 'foo' })
      const app = stage.app(FOO)
      const cargo = stage.cargo()
      const { requests } = stage.registry
      requests.clear()
      await cargo.ok(app, 'check')
      const cold = [
        'GET /index/config.json 200',
        'GET /index/3/f/foo 200',
        'GET /crates/foo/foo-1.0.0.crate 200',
      ]
      assert.deepEqual(requests.lines, cold)
      requests.clear()
      await cargo.ok(app, 'check')
      assert.deepEqual(requests.lines, [])
    },
  ),

  scenario(
    28,
    'registry::deps_http: dependencies of dependencies are found level by level',
    ['sparse'],
    async stage => {
      const [leaf, left, right, trunk] = await stage.publish(
        { name: 'leaf' },
        { name: 'left', toml: '[dependencies]\nleaf = { version = "1", registry = "test" }' },
        { name: 'right', toml: '[dependencies]\nleaf = { version = "1", registry = "test" }' },
        {
          name: 'trunk',
          toml: '[dependencies]\nleft = { version = "1", registry = "test" }\nright = { version = "1", registry = "test" }',
        },
      )
      assert.ok(leaf && left && right && trunk)
      const { requests } = stage.registry
      requests.clear()
      await stage.cargo().ok(stage.app('trunk = { version = "1", registry = "test" }'), 'check')
      assert.deepEqual(requests.lines.slice(0, 2), [
        'GET /index/config.json 200',
        'GET /index/tr/un/trunk 200',
      ])
      assert.deepEqual(requests.lines.slice(2, 4).sort(), [
        'GET /index/le/ft/left 200',
        'GET /index/ri/gh/right 200',
      ])
      assert.deepEqual(requests.lines.slice(4, 5), ['GET /index/le/af/leaf 200'])
      assert.deepEqual(requests.lines.slice(5).sort(), [
        'GET /crates/leaf/leaf-1.0.0.crate 200',
        'GET /crates/left/left-1.0.0.crate 200',
        'GET /crates/right/right-1.0.0.crate 200',
        'GET /crates/trunk/trunk-1.0.0.crate 200',
      ])
      const deps = [dependency('left', '^1'), dependency('right', '^1')]
      assert.equal(
        withoutTimes(await stage.index('tr/un/trunk')),
        await indexLine(stage, trunk, { deps }),
      )
    },
  ),
]
