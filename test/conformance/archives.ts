import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Trick } from '../support/crate-builder.ts'
import { buildCrate, buildEvil } from '../support/crate-builder.ts'
import { send } from '../support/raw-publish.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

/**
 * `.crate` bytes that the client would refuse must not get in, and good ones come out as they went
 * in.
 */
export const archives: readonly Scenario[] = [
  scenario(33, 'registry::bad_cksum_http: a damaged crate is found out', ['tree'], async stage => {
    await stage.publish({ name: 'foo' })
    const file = join(stage.files.tree, 'crates', 'foo', 'foo-1.0.0.crate')
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(bytes.readUInt8(20) ^ 1, 20, 21))
    const checked = await stage
      .cargo()
      .fails(stage.app('foo = { version = "1", registry = "test" }'), 'check')
    says(checked, 'failed to verify the checksum of `foo v1.0.0 (registry `test`)`')
  }),

  scenario(46, 'a good archive by the builder of the evil ones is taken', [], async stage => {
    const bytes = buildCrate({ name: 'evil', version: '1.0.0' })
    assert.equal(await stage.registry.offer('evil', '1.0.0', bytes), null)
    await stage.cargo().ok(stage.app('evil = { version = "1", registry = "test" }'), 'check')
  }),

  refused(
    46,
    'registry::bad_and_or_malicious_packages_rejected_http: a file beside the folder',
    'two top folders',
    /other-1\.0\.0/,
  ),
  refused(46, 'a path that climbs out of the folder', 'parent path', /\.\.\/outside\.rs/),
  refused(46, 'an absolute path', 'absolute path', /\/etc\/cron\.d\/evil/),
  refused(47, 'registry::symlink_and_directory: a symbolic link', 'symlink', /odd/),
  refused(47, 'a hard link', 'hard link', /odd/),
  refused(
    48,
    'registry::reach_max_unpack_size: more than the limit when unpacked',
    'bomb',
    /unpack/,
    {
      PLIMSOLL_LIMITS_UNPACKED_BYTES: `${32 * 1024 ** 2}`,
    },
  ),
]

/** A crate with one fault is refused with words that name it, and leaves no trace. */
function refused(
  number: number,
  title: string,
  trick: Trick,
  words: RegExp,
  settings: NodeJS.ProcessEnv = {},
): Scenario {
  const offer = async (stage: Stage): Promise<void> => {
    const objection = await stage.registry.offer('evil', '1.0.0', buildEvil(trick))
    assert.match(objection ?? 'it was taken', words)
    for (const path of ['/index/ev/il/evil', '/crates/evil/evil-1.0.0.crate']) {
      assert.equal((await send('GET', stage.registry, path)).status, 404, path)
    }
  }
  // `plimsoll check` has statements about all others where there is a web API.
  return scenario(number, title, trick === 'bomb' ? [] : ['no-api'], offer, { settings })
}
