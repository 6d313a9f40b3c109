import assert from 'node:assert/strict'
import { dependency } from '../support/release.ts'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, saysNot, scenario } from './scenario.ts'

/** The dependencies of a release, from its manifest over the index into another build. */
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
handy = ["alias"]
`,
        files: { 'build.rs': 'fn main() {}' },
      })
      assert.ok(foo)
      const expected = await indexLine(stage, foo, {
        deps: [
          dependency('alias', '^1.2', { optional: true, default_features: false, package: 'real' }),
          dependency('real', '~1.2', { kind: 'dev' }),
          dependency('tool', '>=1.0, <2'),
          dependency('tool', '^1', { target: 'cfg(windows)' }),
          dependency('tool', '=1.0.0', { kind: 'build' }),
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
    11,
    'a feature of a dev-dependency without version goes with it',
    [],
    async stage => {
      const near = stage.crate({ name: 'near', toml: '[features]\nstd = []' })
      const toml = `[features]\nhandy = ["near/std"]\n\n[dev-dependencies]\nnear = { path = ${JSON.stringify(near.folder)} }`
      const [foo] = await stage.publish({ name: 'foo', toml })
      assert.ok(foo)
      assert.equal(
        withoutTimes(await stage.index('3/f/foo')),
        await indexLine(stage, foo, { features: { handy: [] } }),
      )
      const app = stage.app('foo = { version = "1", registry = "test", features = ["handy"] }')
      says(await stage.cargo().ok(app, 'check'), 'Checking foo v1.0.0 (registry `test`)')
    },
    { since: 80 },
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
      const plain = await stage
        .cargo()
        .ok(stage.app(BAR, 'const _: [(); 2] = [(); bar::NEW as usize];'), 'check')
      saysNot(plain, 'Checking foo v0.1.0')
      const app = stage.app(BAR, 'const _: [(); 3] = [(); (bar::NEW + bar::OLD) as usize];')
      const checked = await stage.cargo().ok(app, 'check', '--features', 'bar/another')
      says(checked, 'Checking foo v0.1.0 (registry `test`)')
      says(checked, 'Checking foo v0.2.0 (registry `test`)')
    },
  ),

  scenario(
    11,
    'a build-dependency for `cfg(…)` is there when the build script needs it',
    [],
    async stage => {
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
      const deps = [
        dependency('gen', '^1', { kind: 'build', target: 'cfg(not(target_os = "none"))' }),
      ]
      assert.equal(
        withoutTimes(await stage.index('3/f/foo')),
        await indexLine(stage, foo, { deps }),
      )
      const app = stage.app(
        'foo = { version = "1", registry = "test" }',
        'const _: [(); 5] = [(); foo::WORD.len()];',
      )
      says(await stage.cargo().ok(app, 'check'), 'Compiling gen v1.0.0 (registry `test`)')
    },
  ),

  scenario(
    42,
    'registry::dev_dependency_not_used_http, only_download_relevant_http: no more than is needed',
    ['sparse'],
    async stage => {
      const on = (name: string) => `${name} = { version = "1", registry = "test" }`
      await stage.publish(
        { name: 'checker' },
        { name: 'elsewhere' },
        { name: 'extra' },
        {
          name: 'foo',
          toml: `
[dependencies]
extra = { version = "1", registry = "test", optional = true }

[dev-dependencies]
${on('checker')}

[target.'cfg(target_os = "none")'.dependencies]
${on('elsewhere')}
`,
        },
      )
      stage.registry.requests.clear()
      await stage.cargo().ok(stage.app(on('foo')), 'check')
      const downloads = stage.registry.requests.lines.filter(line => line.includes('.crate'))
      assert.deepEqual(downloads, ['GET /crates/foo/foo-1.0.0.crate 200'])
    },
  ),
]
