import assert from 'node:assert/strict'
import { dependency } from '../support/release.ts'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'

/** Dependencies on this registry, on crates.io and on others. */
export const registries: readonly Scenario[] = [
  scenario(
    21,
    'alt_registry::publish_with_crates_io_dep: a dependency on crates.io keeps that URL',
    [],
    async stage => {
      await stage.cratesIo.publish(stage.cargo(), [stage.crate({ name: 'itoa' })])
      const [foo] = await stage.publish({ name: 'foo', toml: '[dependencies]\nitoa = "1"' })
      assert.ok(foo)
      const deps = [dependency('itoa', '^1', { registry: CRATES_IO })]
      assert.equal(
        withoutTimes(await stage.index('3/f/foo')),
        await indexLine(stage, foo, { deps }),
      )
    },
  ),

  scenario(
    23,
    'alt_registry::depend_on_alt_registry_depends_on_crates_io: one build, two registries',
    ['sparse'],
    async stage => {
      await stage.cratesIo.publish(stage.cargo(), [stage.crate({ name: 'itoa' })])
      await stage.publish({ name: 'foo', toml: '[dependencies]\nitoa = "1"' })
      stage.registry.requests.clear()
      stage.cratesIo.requests.clear()
      const checked = await stage
        .cargo()
        .ok(stage.app('foo = { version = "1", registry = "test" }'), 'check')
      says(checked, 'Downloaded itoa v1.0.0 (registry `stand-in`)')
      says(checked, 'Downloaded foo v1.0.0 (registry `test`)')
      assert.deepEqual(stage.registry.requests.sorted, [
        'GET /crates/foo/foo-1.0.0.crate 200',
        'GET /index/3/f/foo 200',
        'GET /index/config.json 200',
      ])
      assert.deepEqual(stage.cratesIo.requests.sorted, [
        'GET /crates/itoa/itoa-1.0.0.crate 200',
        'GET /index/config.json 200',
        'GET /index/it/oa/itoa 200',
      ])
    },
  ),

  scenario(
    24,
    'alt_registry::publish_with_transitive_dep: the URL of a third registry survives',
    [],
    async stage => {
      const other = await stage.otherRegistry()
      const registries = { other: other.indexUrl }
      await other.publish(stage.cargo(), [stage.crate({ name: 'far' })])
      const foo = stage.crate({
        name: 'foo',
        toml: '[dependencies]\nfar = { version = "1", registry = "other" }',
      })
      await stage.registry.publish(stage.cargo({ registries }), [foo])
      const deps = [dependency('far', '^1', { registry: other.indexUrl })]
      assert.equal(
        withoutTimes(await stage.index('3/f/foo')),
        await indexLine(stage, foo, { deps }),
      )
    },
  ),

  scenario(
    27,
    'alt_registry::unknown_registry: a foreign registry that is not configured still resolves',
    [],
    async stage => {
      const other = await stage.otherRegistry()
      await other.publish(stage.cargo(), [stage.crate({ name: 'far' })])
      const foo = stage.crate({
        name: 'foo',
        toml: '[dependencies]\nfar = { version = "1", registry = "other" }',
      })
      await stage.registry.publish(stage.cargo({ registries: { other: other.indexUrl } }), [foo])
      other.requests.clear()
      const cargo = stage.cargo({ env: other.cargoEnv ?? {} })
      const checked = await cargo.ok(
        stage.app('foo = { version = "1", registry = "test" }'),
        'check',
      )
      says(checked, `Checking far v1.0.0 (registry \`${other.indexUrl}\`)`)
      assert.equal(other.requests.lines.at(-1), 'GET /crates/far/far-1.0.0.crate 200')
    },
  ),
]
