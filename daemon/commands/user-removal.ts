import type { Command } from 'commander'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import { timestamp } from '../../core/timestamp.ts'
import { showChanges } from '../../generator/cli/console/changes.ts'
import { readRegistry, withRegistry } from '../../generator/cli/console/folder.ts'
import { type FolderOptions, type Io, report, withDir } from '../../generator/cli/console/io.ts'
import { withManual } from '../../generator/cli/console/manual.ts'
import { requireUser } from '../../generator/records/accounts/accounts.ts'
import { operatorChange } from '../../generator/records/change.ts'
import {
  planRemoval,
  type RemovedUser,
  removeUser,
  renameUser,
} from '../../generator/registry/users.ts'

interface RemoveOptions extends FolderOptions {
  readonly yes?: boolean
  readonly json?: boolean
}

/** `user remove NAME --yes`: ends an account for good, whose name stays taken. */
export function registerRemove(user: Command, io: Io): void {
  const remove = withDir(user.command('remove'), io)
    .description(
      'remove a user for good: tokens, logins and ownership end; the name stays taken, and their versions stay',
    )
    .argument('<username>', 'an existing user')
    .option('--yes', 'really remove; otherwise only show what would end')
    .action((login: string, options: RemoveOptions) =>
      (options.yes ? withRegistry : readRegistry)(io, options, async registry => {
        const found = await requireUser(registry.database, login)
        const show = (ended: RemovedUser, removed: boolean) =>
          report(io, options, { login: found.login, ...ended, removed }, [
            `${removed ? 'removed' : 'would remove'} ${found.login}: ${counted(ended.tokens, 'token')} revoked, ${counted(ended.crates.length, 'crate')} given up`,
          ])
        if (!options.yes) {
          show(await planRemoval(registry.database, found), false)
          refuse('user_remove_unconfirmed')
        }
        const ended = await removeUser(registry, found, operatorChange(timestamp(io.now())))
        const { issues } = await showChanges(io, registry)
        show(ended, true)
        refuseErrors(issues)
      }),
    )
  withManual(remove, {
    examples: [['plimsoll user remove robert --yes', 'ends the account; the name stays taken']],
    json: 'an object: `login`; `crates`, an array of names that they owned; `tokens`, the number of tokens that were revoked; `removed`',
    fails:
      'nobody was removed: there is no such user, nobody else owns one of their crates, they are the last administrator, or --yes is missing; or a page could not be rendered',
  })
}

/** `user rename OLD NEW`. */
export function registerRename(user: Command, io: Io): void {
  const rename = withDir(user.command('rename'), io)
    .description('give a user another name; the old one stays taken, tokens and logins go on')
    .argument('<username>', 'an existing user')
    .argument('<new-name>', '1 to 39 letters, digits, `.`, `_` and `-`')
    .action((login: string, to: string, options: FolderOptions & { json?: boolean }) =>
      withRegistry(io, options, async registry => {
        const found = await requireUser(registry.database, login)
        await renameUser(registry, found, to, operatorChange(timestamp(io.now())))
        const { issues } = await showChanges(io, registry)
        report(io, options, { login: to, before: found.login }, [`renamed ${found.login} to ${to}`])
        refuseErrors(issues)
      }),
    )
  withManual(rename, {
    examples: [['plimsoll user rename bob robert', 'pages name him so from now on']],
    json: 'an object: `login`, the new name; `before`, the old one',
    fails: 'there is no such user, the new name is taken, or a page could not be rendered',
  })
}
