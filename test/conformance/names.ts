import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

/** Names and versions that end up in paths. */
export const names: readonly Scenario[] = [
  scenario(
    28,
    'names of one, two and three characters, upper case, `-` and `_` are found',
    ['sparse'],
    async stage => {
      const files = { 'src/lib.rs': 'pub const HERE: () = ();' }
      const published = await stage.publish(
        { name: 'a', files },
        { name: 'ab', files },
        { name: 'abc', files },
        { name: 'Upper-Case_Name', files },
      )
      const dependencies = published.map(
        ({ name }) => `${name} = { version = "1", registry = "test" }`,
      )
      const uses = published.map(
        ({ name }) => `pub use ${name.replaceAll('-', '_')}::HERE as ${name.replaceAll('-', '_')};`,
      )
      const app = stage.app(
        dependencies.join('\n'),
        `#![allow(non_upper_case_globals)]\n${uses.join('\n')}`,
      )
      stage.registry.requests.clear()
      await stage.cargo().ok(app, 'check')
      assert.deepEqual(stage.registry.requests.sorted, [
        'GET /crates/Upper-Case_Name/Upper-Case_Name-1.0.0.crate 200',
        'GET /crates/a/a-1.0.0.crate 200',
        'GET /crates/ab/ab-1.0.0.crate 200',
        'GET /crates/abc/abc-1.0.0.crate 200',
        'GET /index/1/a 200',
        'GET /index/2/ab 200',
        'GET /index/3/a/abc 200',
        'GET /index/config.json 200',
        'GET /index/up/pe/upper-case_name 200',
      ])
      const upper = published[3]
      assert.ok(upper)
      assert.equal(
        withoutTimes(await stage.index('up/pe/upper-case_name')),
        await indexLine(stage, upper),
      )
    },
  ),

  scenario(
    59,
    'install::install_semver_metadata: build metadata stays raw in the download path',
    ['sparse'],
    async stage => {
      const [foo] = await stage.publish({ name: 'foo', version: '1.0.0+build.5' })
      assert.ok(foo)
      const app = stage.app('foo = { version = "1", registry = "test" }')
      stage.registry.requests.clear()
      says(await stage.cargo().ok(app, 'check'), 'Downloaded foo v1.0.0+build.5 (registry `test`)')
      assert.equal(
        stage.registry.requests.lines.at(-1),
        'GET /crates/foo/foo-1.0.0+build.5.crate 200',
      )
      assert.match(
        readFileSync(join(app, 'Cargo.lock'), 'utf8'),
        /^version = "1\.0\.0\+build\.5"$/m,
      )
      assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo))
    },
  ),
]
