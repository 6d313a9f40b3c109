import assert from 'node:assert/strict'
import { dependency } from '../support/release.ts'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, saysNot, scenario } from './scenario.ts'

/** Feature syntax that has to reach the resolver unharmed. */
export const features: readonly Scenario[] = [
  scenario(
    13,
    'features_namespaced::publish: `dep:` goes to features2 and works',
    [],
    async stage => {
      const [, foo] = await stage.publish(
        { name: 'opt', files: { 'src/lib.rs': 'pub const ON: bool = true;' } },
        {
          name: 'foo',
          toml: `
[dependencies]
opt = { version = "1", registry = "test", optional = true }

[features]
leads = ["nice"]
nice = ["dep:opt"]
plain = []
`,
          files: { 'src/lib.rs': '#[cfg(feature = "nice")]\npub use opt::ON;' },
        },
      )
      assert.ok(foo)
      const expected = await indexLine(stage, foo, {
        deps: [dependency('opt', '^1', { optional: true })],
        features: { plain: [] },
        features2: { leads: ['nice'], nice: ['dep:opt'] },
        v: 2,
      })
      assert.equal(withoutTimes(await stage.index('3/f/foo')), expected)
      const foo1 = 'foo = { version = "1", registry = "test" }'
      saysNot(await stage.cargo().ok(stage.app(foo1), 'check'), 'opt v')
      const app = stage.app(
        'foo = { version = "1", registry = "test", features = ["leads"] }',
        'pub use foo::ON;',
      )
      says(await stage.cargo().ok(app, 'check'), 'Checking opt v1.0.0 (registry `test`)')
      const hidden = await stage.cargo().fails(stage.app(foo1), 'check', '--features', 'foo/opt')
      says(hidden, /feature.*`?opt`?/)
    },
  ),

  scenario(
    13,
    'weak_dep_features::publish: `x?/f` turns a feature on without turning `x` on',
    [],
    async stage => {
      const [, foo] = await stage.publish(
        {
          name: 'opt',
          toml: '[features]\nloud = []',
          files: { 'src/lib.rs': 'pub const LOUD: bool = cfg!(feature = "loud");' },
        },
        {
          name: 'foo',
          toml: `
[dependencies]
opt = { version = "1", registry = "test", optional = true }

[features]
loud = ["opt?/loud"]
`,
          files: { 'src/lib.rs': '#[cfg(feature = "opt")]\npub use opt::LOUD;' },
        },
      )
      assert.ok(foo)
      const expected = await indexLine(stage, foo, {
        deps: [dependency('opt', '^1', { optional: true })],
        features2: { loud: ['opt?/loud'] },
        v: 2,
      })
      assert.equal(withoutTimes(await stage.index('3/f/foo')), expected)
      const weak = stage.app('foo = { version = "1", registry = "test", features = ["loud"] }')
      saysNot(await stage.cargo().ok(weak, 'check'), 'Checking opt')
      const both = stage.app(
        'foo = { version = "1", registry = "test", features = ["loud", "opt"] }',
        'const _: () = assert!(foo::LOUD);',
      )
      says(await stage.cargo().ok(both, 'check'), 'Checking opt v1.0.0 (registry `test`)')
    },
  ),
]
