import { refuse, refuseErrors } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import { showChanges } from '../../generator/cli/console/changes.ts'
import { type RegistryTask, registryCommand } from '../../generator/cli/console/command.ts'
import { requireUser } from '../../generator/records/accounts/accounts.ts'
import {
  planRemoval,
  type RemovedUser,
  removeUser,
  renameUser,
} from '../../generator/registry/users.ts'

export const registerRemove = registryCommand('remove', {
  about:
    'remove a user for good: tokens, logins and ownership end; the name stays taken, and their versions stay',
  takes: [
    ['<username>', 'an existing user'],
    ['--yes', 'really remove; otherwise only show what would end'],
  ],
  examples: [['plimsoll user remove robert --yes', 'ends the account; the name stays taken']],
  json: 'an object: `login`; `crates`, an array of names that they owned; `tokens`, the number of tokens that were revoked; `removed`',
  fails:
    'nobody was removed: there is no such user, nobody else owns one of their crates, they are the last administrator, or --yes is missing; or a page could not be rendered',
  reads: ({ yes }) => !yes,
  async run(task: RegistryTask<{ readonly yes?: boolean }>, login: string) {
    const { registry, change, report } = task
    const found = await requireUser(registry.database, login)
    const show = (ended: RemovedUser, removed: boolean) =>
      report({ login: found.login, ...ended, removed }, [
        `${removed ? 'removed' : 'would remove'} ${found.login}: ${counted(ended.tokens, 'token')} revoked, ${counted(ended.crates.length, 'crate')} given up`,
      ])
    if (!task.options.yes) {
      show(await planRemoval(registry.database, found), false)
      refuse('user_remove_unconfirmed')
    }
    const ended = await removeUser(registry, found, change)
    const { issues } = await showChanges(task)
    show(ended, true)
    refuseErrors(issues)
  },
})

export const registerRename = registryCommand('rename', {
  about: 'give a user another name; the old one stays taken, tokens and logins go on',
  takes: [
    ['<username>', 'an existing user'],
    ['<new-name>', '1 to 39 letters, digits, `.`, `_` and `-`'],
  ],
  examples: [['plimsoll user rename bob robert', 'pages name him so from now on']],
  json: 'an object: `login`, the new name; `before`, the old one',
  fails: 'there is no such user, the new name is taken, or a page could not be rendered',
  async run(task: RegistryTask, login: string, to: string) {
    const { registry, change, report } = task
    const found = await requireUser(registry.database, login)
    await renameUser(registry, found, to, change)
    const { issues } = await showChanges(task)
    report({ login: to, before: found.login }, [`renamed ${found.login} to ${to}`])
    refuseErrors(issues)
  },
})
