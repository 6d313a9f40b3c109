import assert from 'node:assert/strict'
import { dependency, indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, saysNot, scenario } from './scenario.ts'

const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'

/** What becomes of the dependencies of a release, from its manifest over the index into another build. */
export const dependencies: readonly Scenario[] = [
  scenario(
    11,
    'publish::publish_dev_dep_stripping: kinds, targets, renames; a dev-dependency without version goes',
    [],
    async stage => {
      await stage.publish({ name: 'real', version: '1.2.0' }, { name: 'tool' })
      const near = stage.crate({ name: 'near' })
      const [foo] = await stage.publish({
        name: 'foo',
        toml: `
[dependencies]
alias = { package = "real", version = "1.2", registry = "test", default-features = false, optional = true }
tool = { version = ">=1.0, <2", registry = "test" }

[dev-dependencies]
near = { path = ${JSON.stringify(near.folder)} }
real = { version = "~1.2", registry = "test" }

[build-dependencies]
tool = { version = "=1.0.0", registry = "test" }

[target.'cfg(windows)'.dependencies]
tool = { version = "1", registry = "test" }

[features]
handy = ["alias", "near/std"]
`,
        files: { 'build.rs': 'fn main() {}' },
      })
      assert.ok(foo)
      const expected = await indexLine(stage, foo, {
        deps: [
          dependency('alias', '^1.2', { optional: true, default_features: false, package: 'real' }),
          dependency('tool', '>=1.0, <2'),
          dependency('real', '~1.2', { kind: 'dev' }),
          dependency('tool', '=1.0.0', { kind: 'build' }),
          dependency('tool', '^1', { target: 'cfg(windows)' }),
        ],
        features: { handy: ['alias'] },
      })
      assert.equal(withoutTimes(await stage.index('3/f/foo')), expected)
      const app = stage.app('foo = { version = "1", registry = "test", features = ["handy"] }')
      const checked = await stage.cargo().ok(app, 'check')
      says(checked, 'Checking real v1.2.0 (registry `test`)')
      saysNot(checked, 'near v')
    },
  ),

  scenario(
    12,
    'registry::rename_deps_and_features: renamed dependencies keep real and new name apart',
    [],
    async stage => {
      const answer = (version: string, value: number) => ({
        name: 'foo',
        version,
        files: { 'src/lib.rs': `pub const ANSWER: u32 = ${value};` },
      })
      const [, , bar] = await stage.publish(answer('0.1.0', 1), answer('0.2.0', 2), {
        name: 'bar',
        toml: `
[dependencies]
foo01 = { package = "foo", version = "0.1.0", registry = "test", optional = true }
foo02 = { package = "foo", version = "0.2.0", registry = "test" }

[features]
another = ["foo01"]
`,
        files: {
          'src/lib.rs':
            'pub const NEW: u32 = foo02::ANSWER;\n#[cfg(feature = "foo01")]\npub const OLD: u32 = foo01::ANSWER;',
        },
      })
      assert.ok(bar)
      const expected = await indexLine(stage, bar, {
        deps: [
          dependency('foo01', '^0.1.0', { optional: true, package: 'foo' }),
          dependency('foo02', '^0.2.0', { package: 'foo' }),
        ],
        features: { another: ['foo01'] },
      })
      assert.equal(withoutTimes(await stage.index('3/b/bar')), expected)
      const BAR = 'bar = { version = "1", registry = "test" }'
      const plain = await stage.cargo().ok(stage.app(BAR, 'const _: [(); 2] = [(); bar::NEW as usize];'), 'check')
      saysNot(plain, 'Checking foo v0.1.0')
      const app = stage.app(BAR, 'const _: [(); 3] = [(); (bar::NEW + bar::OLD) as usize];')
      const checked = await stage.cargo().ok(app, 'check', '--features', 'bar/another')
      says(checked, 'Checking foo v0.1.0 (registry `test`)')
      says(checked, 'Checking foo v0.2.0 (registry `test`)')
    },
  ),

  scenario(11, 'a build-dependency for `cfg(…)` is there when the build script needs it', [], async stage => {
    const [, foo] = await stage.publish(
      { name: 'gen', files: { 'src/lib.rs': 'pub fn word() -> &\'static str { "hello" }' } },
      {
        name: 'foo',
        toml: `[target.'cfg(not(target_os = "none"))'.build-dependencies]\ngen = { version = "1", registry = "test" }`,
        files: {
          'build.rs': 'fn main() { println!("cargo:rustc-env=WORD={}", gen::word()) }',
          'src/lib.rs': 'pub const WORD: &str = env!("WORD");',
        },
      },
    )
    assert.ok(foo)
    const deps = [dependency('gen', '^1', { kind: 'build', target: 'cfg(not(target_os = "none"))' })]
    assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo, { deps }))
    const app = stage.app('foo = { version = "1", registry = "test" }', 'const _: [(); 5] = [(); foo::WORD.len()];')
    says(await stage.cargo().ok(app, 'check'), 'Compiling gen v1.0.0 (registry `test`)')
  }),

  scenario(
    21,
    'alt_registry::publish_with_crates_io_dep: a dependency on crates.io keeps that URL',
    [],
    async stage => {
      await stage.cratesIo.publish(stage.cargo(), [stage.crate({ name: 'itoa' })])
      const [foo] = await stage.publish({ name: 'foo', toml: '[dependencies]\nitoa = "1"' })
      assert.ok(foo)
      const deps = [dependency('itoa', '^1', { registry: CRATES_IO })]
      assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo, { deps }))
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
      const checked = await stage.cargo().ok(stage.app('foo = { version = "1", registry = "test" }'), 'check')
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
    22,
    'alt_registry::publish_with_registry_dependency: a dependency on the same registry is null',
    [],
    async stage => {
      const [, foo] = await stage.publish(
        { name: 'bar' },
        { name: 'foo', toml: '[dependencies]\nbar = { version = "1.0", registry = "test" }' },
      )
      assert.ok(foo)
      const deps = [dependency('bar', '^1.0')]
      assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo, { deps }))
      const checked = await stage.cargo().ok(stage.app('foo = { version = "1", registry = "test" }'), 'check')
      says(checked, 'Checking bar v1.0.0 (registry `test`)')
      says(checked, 'Checking foo v1.0.0 (registry `test`)')
    },
  ),

  scenario(24, 'alt_registry::publish_with_transitive_dep: the URL of a third registry survives', [], async stage => {
    const other = await stage.otherRegistry()
    const registries = { other: other.indexUrl }
    await other.publish(stage.cargo(), [stage.crate({ name: 'far' })])
    const foo = stage.crate({ name: 'foo', toml: '[dependencies]\nfar = { version = "1", registry = "other" }' })
    await stage.registry.publish(stage.cargo({ registries }), [foo])
    const deps = [dependency('far', '^1', { registry: other.indexUrl })]
    assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo, { deps }))
  }),

  scenario(
    27,
    'alt_registry::unknown_registry: a foreign registry nobody configured still resolves',
    [],
    async stage => {
      const other = await stage.otherRegistry()
      await other.publish(stage.cargo(), [stage.crate({ name: 'far' })])
      const foo = stage.crate({ name: 'foo', toml: '[dependencies]\nfar = { version = "1", registry = "other" }' })
      await stage.registry.publish(stage.cargo({ registries: { other: other.indexUrl } }), [foo])
      other.requests.clear()
      const checked = await stage.cargo().ok(stage.app('foo = { version = "1", registry = "test" }'), 'check')
      says(checked, `Checking far v1.0.0 (registry \`${other.indexUrl}\`)`)
      assert.deepEqual(other.requests.lines, [
        'GET /index/config.json 200',
        'GET /index/3/f/far 200',
        'GET /crates/far/far-1.0.0.crate 200',
      ])
    },
  ),
]
