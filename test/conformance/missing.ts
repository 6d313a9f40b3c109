import assert from 'node:assert/strict'
import { cargoIsAtLeast } from '../support/cargo.ts'
import type { Run } from '../support/command.ts'
import { send } from '../support/raw-publish.ts'
import { until } from '../support/until.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

const FOO = 'foo = { version = "1", registry = "test" }'

/** Missing things, and Cargo's reaction. */
export const missing: readonly Scenario[] = [
  scenario(
    31,
    'registry::wrong_case_http: the name in another case is suggested',
    [],
    async stage => {
      await stage.publish({ name: 'Init' })
      const checked = await stage
        .cargo()
        .fails(stage.app('init = { version = "1", registry = "test" }'), 'check')
      suggests(checked, 'init', 'Init')
    },
  ),

  scenario(
    31,
    'registry::mis_hyphenated_http: the name with `-` for `_` is suggested',
    [],
    async stage => {
      await stage.publish({ name: 'mis-hyphenated' })
      const app = stage.app('mis_hyphenated = { version = "1", registry = "test" }')
      const checked = await stage.cargo().fails(app, 'check')
      suggests(checked, 'mis_hyphenated', 'mis-hyphenated')
    },
  ),

  scenario(
    32,
    'registry::wrong_version_http: the newest candidates are listed, fresh after each publish',
    [],
    async stage => {
      await stage.publish({ name: 'foo', version: '0.0.1' }, { name: 'foo', version: '0.0.2' })
      const app = stage.app(FOO)
      const cargo = stage.cargo()
      const first = await cargo.fails(app, 'check')
      says(first, 'failed to select a version for the requirement `foo = "^1"`')
      says(first, /candidate versions found which didn't match: 0\.0\.2, 0\.0\.1$/m)
      await stage.publish({ name: 'foo', version: '0.0.3' }, { name: 'foo', version: '0.0.4' })
      says(
        await cargo.fails(app, 'check'),
        /candidate versions found which didn't match: 0\.0\.4, 0\.0\.3, 0\.0\.2, \.\.\.$/m,
      )
    },
  ),

  scenario(
    40,
    'registry::deleted_entry: what the operator took away is gone, a warm cache goes on',
    ['tree'],
    async stage => {
      await stage.publish(
        { name: 'foo', version: '1.0.0' },
        { name: 'foo', version: '1.0.1' },
        { name: 'bar' },
      )
      const app = stage.app(FOO)
      const cargo = stage.cargo()
      await cargo.ok(app, 'check')
      await stage.files.remove('foo', '1.0.1')
      await stage.files.remove('bar', '1.0.0')
      await cargo.ok(app, 'check', '--locked')
      says(await stage.cargo().ok(stage.app(FOO), 'check'), 'Checking foo v1.0.0 (registry `test`)')
      const missing = await stage
        .cargo()
        .fails(stage.app('bar = { version = "1", registry = "test" }'), 'check')
      says(missing, 'no matching package named `bar` found')
      assert.equal(stage.registry.requests.lines.at(-1), 'GET /index/3/b/bar 404')
    },
  ),

  scenario(
    49,
    'registry::http_requires_trailing_slash: cargo wants the slash, and our pages print it',
    ['sparse'],
    async stage => {
      await stage.publish({ name: 'foo' })
      const index = stage.registry.indexUrl.replace(/\/$/, '')
      const cargo = stage.cargo({ registries: { test: index } })
      const checked = await cargo.fails(stage.app(FOO), 'check')
      says(checked, `sparse registry url must end in a slash \`/\`: ${index}`)
      const printed = async () => {
        const page = (await send('GET', stage.registry, '/')).bytes.toString()
        return [...new Set(page.match(/sparse\+http[^"&<\s]*/g))].join()
      }
      // Until the pages are rendered for the address of this daemon, they have that of `init`.
      await until(
        async () => (await printed()) === stage.registry.indexUrl,
        () => 'the front page does not name the index',
      )
    },
  ),
]

/** Cargo missed `asked` and offers `real`; 1.96 words it anew. */
function suggests(checked: Run, asked: string, real: string): void {
  const recent = cargoIsAtLeast(96)
  says(
    checked,
    recent ? `no matching package named \`${asked}\` found` : `searched package name: \`${asked}\``,
  )
  says(
    checked,
    recent ? `help: packages with similar names: ${real}\n` : `perhaps you meant:      ${real}\n`,
  )
}
