import assert from 'node:assert/strict'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

/** Owners and tokens. */
export const accounts: readonly Scenario[] = [
  scenario(
    58,
    'owner::simple_list, simple_add, simple_remove: owners come and go',
    ['api'],
    async stage => {
      await stage.publish({ name: 'foo' })
      const mate = await stage.api.addUser('mate')
      const cargo = stage.cargo()
      const owner = (...args: readonly string[]) =>
        cargo.ok(stage.folder, 'owner', '--registry', 'test', ...args, 'foo')
      const change = async (token: string) => {
        await stage.registry.yank(stage.cargo({ token }), 'foo', '1.0.0')
        await stage.registry.unyank(stage.cargo({ token }), 'foo', '1.0.0')
      }
      assert.match((await owner('--list')).stdout, /^sailor\b.*\n$/)
      await assert.rejects(change(mate), /the remote server responded with an error/)
      says(await owner('--add', 'mate'), /Owner .*mate/)
      assert.match((await owner('--list')).stdout, /^sailor\b.*\nmate\b.*\n$/)
      await change(mate)
      says(await owner('--remove', 'sailor'), 'Owner removing')
      const refused = await cargo.fails(
        stage.folder,
        'owner',
        '--registry',
        'test',
        '--add',
        'sailor',
        'foo',
      )
      says(refused, 'failed to invite owners to crate `foo` on registry at')
      const list = await stage
        .cargo({ token: mate })
        .ok(stage.folder, 'owner', '--registry', 'test', '--list', 'foo')
      assert.match(list.stdout, /^mate\b.*\n$/)
    },
    { settings: { PLIMSOLL_OWNERS_ADD: 'direct' } },
  ),

  scenario(
    19,
    'publish::publish_checks_for_token_before_verify: no token, no request; a dry run works',
    ['api'],
    async stage => {
      const { folder } = stage.crate({ name: 'foo' })
      const cargo = stage.cargo({ token: null })
      const refused = await cargo.fails(folder, 'publish', '--allow-dirty', '--registry', 'test')
      says(refused, /no (upload )?token found.*, please run `cargo login\b/)
      const dry = await cargo.ok(
        folder,
        'publish',
        '--allow-dirty',
        '--registry',
        'test',
        '--dry-run',
      )
      says(dry, 'aborting upload due to dry run')
      assert.deepEqual(
        stage.registry.requests.lines.filter(line => line.includes('/api/')),
        [],
      )
    },
  ),
]
