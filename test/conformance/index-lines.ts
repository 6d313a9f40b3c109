import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildCrate } from '../support/crate-builder.ts'
import { packagedFile } from '../support/project.ts'
import { putRelease, refusal, send } from '../support/raw-publish.ts'
import { dependency } from '../support/release.ts'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, saysNot, scenario } from './scenario.ts'

const FOO = 'foo = { version = "1", registry = "test" }'

/** Releases of one crate whose lines have parts that are easily written wrong. */
const CURIOUS = [
  { version: '1.0.0', package: 'links = "native-1"', files: { 'build.rs': 'fn main() {}' } },
  { version: '2.0.0-rc.1.x-y', package: 'rust-version = "1.56"\nkeywords = ["a+b", "c_d"]' },
  { version: '3.0.0+build.7', package: 'homepage = "https://example.com/?a=\\"b\\"&c=<d>"' },
  { version: '4.0.0', toml: '[features]\n2018 = []\n"a+b.c-d" = ["2018"]\ndefault = ["a+b.c-d"]' },
  {
    version: '5.0.0',
    toml: `[target.'cfg(any(unix, target_arch = "x86"))'.dependencies]\nbar = { version = ">=0.1, <2", registry = "test" }`,
  },
  {
    version: '6.0.0',
    toml: '[dependencies]\nalias = { package = "bar", version = "*", registry = "test", optional = true }\n[features]\n"\u00f1" = ["alias"]',
  },
  { version: '18446744073709551615.0.0' },
]

/** Cargo believes the index: its lines match the manifests, and all of them can be read. */
export const indexLines: readonly Scenario[] = [
  scenario(
    41,
    'registry::toml_lies_but_index_is_truth_http: a publish that says other than its manifest is refused',
    ['api', 'sparse'],
    async stage => {
      await stage.publish({ name: 'bar', version: '0.1.0' }, { name: 'bar', version: '0.2.0' })
      const toml = '[dependencies]\nbar = { version = "0.1", registry = "test" }'
      const foo = stage.crate({ name: 'foo', toml })
      const cargo = stage.cargo()
      await cargo.ok(foo.folder, 'package', '--no-verify', '--allow-dirty')
      const sent = {
        ...dependency('bar', '^0.1'),
        req: undefined,
        package: undefined,
        registry: undefined,
      }
      const lies = [
        [],
        [{ ...sent, version_req: '^0.2' }],
        [{ ...sent, version_req: '^0.1', optional: true }],
      ]
      for (const deps of lies) {
        const facts = { name: 'foo', vers: '1.0.0', deps }
        const answer = await putRelease(
          stage.registry,
          stage.api.token,
          facts,
          readFileSync(packagedFile(foo)),
        )
        assert.match(refusal(answer) ?? 'it was taken', /`bar`/)
        assert.equal((await send('GET', stage.registry, '/index/3/f/foo')).status, 404)
      }
      await stage.registry.publish(cargo, [foo])
      const deps = [dependency('bar', '^0.1')]
      assert.equal(
        withoutTimes(await stage.index('3/f/foo')),
        await indexLine(stage, foo, { deps }),
      )
      const checked = await stage.cargo().ok(stage.app(FOO), 'check')
      says(checked, 'Checking bar v0.1.0 (registry `test`)')
      saysNot(checked, 'bar v0.2.0')
    },
  ),

  scenario(
    44,
    'registry::invalid_json_lines_error: of the most curious releases, cargo can use every one',
    [],
    async stage => {
      await stage.publish({ name: 'bar' }, ...CURIOUS.map(release => ({ name: 'foo', ...release })))
      const lines = (await stage.index('3/f/foo')).trimEnd().split('\n')
      const versions = CURIOUS.map(release => release.version)
      assert.deepEqual(
        lines.map(line => (JSON.parse(line) as { vers: string }).vers),
        versions,
      )
      const dependencies = versions.map((version, at) => {
        const exact = version.replace(/\+.*/, '')
        return `foo${at} = { package = "foo", version = "=${exact}", registry = "test" }`
      })
      const checked = await stage.cargo().ok(stage.app(dependencies.join('\n')), 'check')
      for (const version of versions) says(checked, `foo v${version} (registry \`test\`)\n`)
    },
  ),

  scenario(
    44,
    'registry::ignore_invalid_json_lines_http: a damaged line hides its version alone, a build repairs it',
    ['tree', 'sparse'],
    async stage => {
      const [first] = await stage.publish(
        ...['1.0.0', '1.0.1', '1.0.2'].map(version => ({ name: 'foo', version })),
      )
      assert.ok(first)
      const file = join(stage.files.tree, 'index', '3', 'f', 'foo')
      const whole = readFileSync(file, 'utf8')
      writeFileSync(
        file,
        whole.replace(/^.*"vers":"1\.0\.1".*$/m, line => line.slice(0, 60)),
      )
      says(await stage.cargo().ok(stage.app(FOO), 'check'), 'Checking foo v1.0.2 (registry `test`)')
      const exactly = (version: string) =>
        stage.app(`foo = { version = "=${version}", registry = "test" }`)
      says(await stage.cargo().fails(exactly('1.0.1'), 'check'), /didn't match: 1\.0\.2, 1\.0\.0$/m)
      await stage.files.rebuild()
      assert.equal(readFileSync(file, 'utf8'), whole)
      says(
        await stage.cargo().ok(exactly('1.0.1'), 'check'),
        'Checking foo v1.0.1 (registry `test`)',
      )
    },
  ),

  scenario(
    45,
    'registry::ignores_unknown_index_version_http: what needs a newer cargo says so and is passed over',
    ['sparse'],
    async stage => {
      await stage.publish({ name: 'tool' }, { name: 'foo', version: '1.0.0' })
      const manifest =
        '[dependencies.tool]\nversion = "1"\nartifact = "bin"\nregistry-index = "INDEX"'
      const bytes = buildCrate({
        name: 'foo',
        version: '1.1.0',
        manifest: manifest.replace('INDEX', stage.registry.indexUrl),
      })
      const sent = {
        ...dependency('tool', '^1'),
        req: undefined,
        package: undefined,
        registry: undefined,
      }
      const deps = [{ ...sent, version_req: '^1', artifact: ['bin'] }]
      assert.equal(await stage.registry.offer('foo', '1.1.0', bytes, deps), null)
      const [first, second] = (await stage.index('3/f/foo')).split('\n')
      assert.equal((JSON.parse(first ?? '') as { v?: number }).v, undefined)
      assert.equal((JSON.parse(second ?? '') as { v?: number }).v, 3)
      says(await stage.cargo().ok(stage.app(FOO), 'check'), 'Checking foo v1.0.0 (registry `test`)')
      const app = stage.app('foo = { version = "1.1", registry = "test" }')
      says(
        await stage.cargo().fails(app, 'check'),
        'requires a Cargo version that supports index version 3',
      )
    },
  ),
]
