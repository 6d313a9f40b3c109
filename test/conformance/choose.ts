import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cargoIsAtLeast } from '../support/cargo.ts'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

const FOO = 'foo = { version = "1", registry = "test" }'

/** How Cargo chooses a version. */
export const choose: readonly Scenario[] = [
  scenario(
    43,
    'registry::use_semver_http: a pre-release is chosen only by an explicit requirement',
    [],
    async stage => {
      await stage.publish({ name: 'foo', version: '1.2.3-alpha.0' })
      const refused = await stage.cargo().fails(stage.app(FOO), 'check')
      if (cargoIsAtLeast(95))
        says(refused, "candidate versions found which didn't match: 1.2.3-alpha.0")
      else says(refused, 'no matching package named `foo` found')
      const app = stage.app('foo = { version = "1.2.3-alpha.0", registry = "test" }')
      says(await stage.cargo().ok(app, 'check'), 'Checking foo v1.2.3-alpha.0 (registry `test`)')
    },
  ),

  scenario(
    43,
    'install::pick_max_version: install takes the newest version that is no pre-release',
    [],
    async stage => {
      const files = { 'src/main.rs': 'fn main() {}' }
      const versions = ['0.2.1', '0.3.0-beta.1', '0.2.0']
      await stage.publish(...versions.map(version => ({ name: 'tool', version, files })))
      const cargo = stage.cargo()
      const root = join(stage.folder, 'installed')
      const installed = await cargo.ok(
        stage.folder,
        'install',
        '--registry',
        'test',
        '--root',
        root,
        '--debug',
        'tool',
      )
      says(installed, 'Installing tool v0.2.1 (registry `test`)')
      says(installed, 'Installed package `tool v0.2.1 (registry `test`)`')
    },
  ),

  scenario(
    59,
    'cargo_info/pick_msrv_compatible_package: rust_version steers the resolver',
    [],
    async stage => {
      const [old, recent] = await stage.publish(
        { name: 'foo', version: '1.0.0', package: 'rust-version = "1.56"' },
        { name: 'foo', version: '1.1.0', package: 'rust-version = "1.999.0"' },
      )
      assert.ok(old && recent)
      const { folder } = stage.crate({
        name: 'app',
        package: 'publish = false\nrust-version = "1.60"\nresolver = "3"',
        toml: `[dependencies]\n${FOO}`,
      })
      says(
        await stage.cargo().ok(folder, 'generate-lockfile'),
        'Adding foo v1.0.0 (registry `test`) (available: v1.1.0',
      )
      assert.equal(
        withoutTimes(await stage.index('3/f/foo')),
        (await indexLine(stage, old, { rust_version: '1.56' })) +
          (await indexLine(stage, recent, { rust_version: '1.999.0' })),
      )
    },
    { since: 84 },
  ),

  scenario(
    59,
    'cargo_add/normalize_name_registry: `cargo add` finds the name with `-` for `_`',
    [],
    async stage => {
      await stage.publish({ name: 'linked-hash-map', version: '1.2.3' })
      const app = stage.app('')
      const added = await stage.cargo().ok(app, 'add', '--registry', 'test', 'linked_hash_map')
      says(added, 'translating `linked_hash_map` to `linked-hash-map`')
      assert.match(
        readFileSync(join(app, 'Cargo.toml'), 'utf8'),
        /^linked-hash-map = \{ version = "1\.2\.3", registry = "test" \}$/m,
      )
    },
  ),

  scenario(
    59,
    'cargo_info: the manifest is read from the download',
    [],
    async stage => {
      await stage.publish({ name: 'foo', package: 'rust-version = "1.56"\nkeywords = ["cargo"]' })
      const { stdout } = await stage.cargo().ok(stage.folder, 'info', '--registry', 'test', 'foo')
      assert.equal(
        stdout,
        'foo #cargo\nThe crate foo\nversion: 1.0.0 (from registry `test`)\nlicense: MIT\nrust-version: 1.56\n',
      )
    },
    { since: 82 },
  ),

  scenario(
    59,
    'install::install_yanked_cargo_package: a yanked version is not installed',
    [],
    async stage => {
      await stage.publish({ name: 'tool', files: { 'src/main.rs': 'fn main() {}' } })
      await stage.registry.yank(stage.cargo(), 'tool', '1.0.0')
      const args = ['install', '--registry', 'test', '--root', join(stage.folder, 'installed')]
      const refused = await stage.cargo().fails(stage.folder, ...args, 'tool', '--version', '1.0.0')
      says(refused, 'cannot install package `tool`, it has been yanked from registry `test`')
    },
  ),
]
