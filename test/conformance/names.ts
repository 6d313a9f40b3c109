import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

/** Names and versions that end up in paths. */
export const names: readonly Scenario[] = [
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
