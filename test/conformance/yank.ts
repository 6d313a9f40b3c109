import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cargoIsAtLeast } from '../support/cargo.ts'
import { send } from '../support/raw-publish.ts'
import type { Scenario } from './scenario.ts'
import { says, saysNot, scenario } from './scenario.ts'

const FOO = 'foo = { version = "1", registry = "test" }'

/** Yanked versions, and their dependents. */
export const yank: readonly Scenario[] = [
  scenario(
    36,
    'registry::yanks_are_not_used_http: an older version is chosen over a yanked one',
    [],
    async stage => {
      await stage.publish({ name: 'foo', version: '1.0.0' }, { name: 'foo', version: '1.0.1' })
      await stage.registry.yank(stage.cargo(), 'foo', '1.0.1')
      says(await stage.cargo().ok(stage.app(FOO), 'check'), 'Checking foo v1.0.0 (registry `test`)')
    },
  ),

  scenario(
    36,
    'registry::relying_on_a_yank_is_bad_http: only a yanked version is an error that says so',
    [],
    async stage => {
      await stage.publish({ name: 'foo', version: '1.0.0' })
      await stage.registry.yank(stage.cargo(), 'foo', '1.0.0')
      const checked = await stage.cargo().fails(stage.app(FOO), 'check')
      if (cargoIsAtLeast(95)) says(checked, 'version 1.0.0 is yanked')
      else says(checked, 'no matching package named `foo` found')
    },
  ),

  scenario(
    37,
    'registry::yanks_in_lockfiles_are_ok_http: a locked yanked version is still downloaded',
    [],
    async stage => {
      await stage.publish({ name: 'foo', version: '1.0.0' })
      const app = stage.app(FOO)
      await stage.cargo().ok(app, 'generate-lockfile')
      await stage.registry.yank(stage.cargo(), 'foo', '1.0.0')
      const checked = await stage.cargo().ok(app, 'check', '--locked')
      says(checked, 'Downloaded foo v1.0.0 (registry `test`)')
    },
  ),

  scenario(
    38,
    'registry::yanks_in_lockfiles_are_ok_with_new_dep_http: a new dependency keeps the lock',
    [],
    async stage => {
      await stage.publish(
        { name: 'foo', version: '1.0.0' },
        { name: 'foo', version: '1.0.1' },
        { name: 'new' },
      )
      const app = stage.app(FOO)
      const cargo = stage.cargo()
      await cargo.ok(app, 'check')
      await stage.registry.yank(stage.cargo(), 'foo', '1.0.1')
      const manifest = join(app, 'Cargo.toml')
      writeFileSync(
        manifest,
        `${readFileSync(manifest, 'utf8')}\nnew = { version = "1", registry = "test" }\n`,
      )
      const checked = await cargo.ok(app, 'check')
      says(checked, 'Downloaded new v1.0.0 (registry `test`)')
      saysNot(checked, 'foo v1.0.0')
      assert.match(
        readFileSync(join(app, 'Cargo.lock'), 'utf8'),
        /name = "foo"\nversion = "1\.0\.1"/,
      )
    },
  ),

  scenario(
    39,
    'yank::explicit_version: yank flips one word of the index, undo flips it back',
    ['sparse'],
    async stage => {
      await stage.publish({ name: 'foo', version: '1.0.0' }, { name: 'foo', version: '1.0.1+meta' })
      const file = () => send('GET', stage.registry, '/index/3/f/foo')
      const before = await file()
      const [first, second] = before.bytes.toString().split(/(?<=\n)/)
      assert.ok(first && second)

      await stage.registry.yank(stage.cargo(), 'foo', '1.0.1+meta')
      const yanked = await file()
      assert.equal(
        yanked.bytes.toString(),
        first + second.replace('"yanked":false', '"yanked":true'),
      )
      assert.notEqual(yanked.headers.etag, before.headers.etag)

      await stage.registry.unyank(stage.cargo(), 'foo', '1.0.1+meta')
      assert.equal((await file()).bytes.toString(), before.bytes.toString())
      assert.match(second, /"yanked":false/)
    },
  ),

  scenario(
    39,
    'yank::prefixed_v_in_version: a version that does not exist is named, nothing changes',
    ['api'],
    async stage => {
      await stage.publish({ name: 'foo', version: '1.0.0' })
      const before = await stage.index('3/f/foo')
      const missing = await stage
        .cargo()
        .fails(stage.folder, 'yank', '--registry', 'test', 'foo@2.0.0')
      says(missing, 'failed to yank from the registry at')
      says(missing, /foo.*2\.0\.0/s)
      const unknown = await stage
        .cargo()
        .fails(stage.folder, 'yank', '--registry', 'test', 'nothing@1.0.0')
      says(unknown, /the remote server responded with an error.*nothing/s)
      await stage.cargo().fails(stage.folder, 'yank', '--registry', 'test', 'foo@v1.0.0')
      assert.equal(await stage.index('3/f/foo'), before)
    },
  ),
]
