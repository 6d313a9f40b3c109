import { refuse, refuseErrors } from '../../core/error/error.ts'
import { findUser } from '../../generator/accounts/accounts.ts'
import { addOwners, removeOwners } from '../../generator/accounts/ownership.ts'
import { showChanges } from '../../generator/cli/console/changes.ts'
import {
  commandGroup,
  type RegistryTask,
  registryCommand,
} from '../../generator/cli/console/command.ts'
import { table } from '../../generator/cli/console/table.ts'
import { type CrateRecord, requireCrate } from '../../generator/records/crates.ts'
import { listOwners } from '../../generator/records/owners.ts'
import { listRules, ruleText } from '../../generator/trust/rules.ts'
import { dropRule } from '../../generator/trust/rules-changes.ts'

const CRATE = { '<crate>': 'the name of a crate' }

const registerList = registryCommand('list', {
  about: 'list the owners of a crate',
  takes: CRATE,
  examples: { 'plimsoll owner list demo': 'one line for each owner' },
  json: 'an array with an object for each owner: `id`; `login`, the username or `group:NAME`; `name`, or the title of the group',
  fails: 'there is no such crate',
  reads: true,
  async run({ registry, report }: RegistryTask, name: string) {
    const owners = await listOwners(
      registry.database,
      (await requireCrate(registry.database, name)).id,
    )
    const rows = owners.map(owner => [String(owner.id), owner.login, owner.name ?? ''])
    report(owners, table(['id', 'user', 'name'], rows))
  },
})

/** Declares a command that makes a user an owner of a crate, or one no longer. */
function changing(
  name: 'add' | 'remove',
  about: string,
  work: typeof addOwners,
  said: (user: string, crate: string) => string,
  users: readonly string[],
  options: Parameters<typeof registryCommand>[1]['takes'] = {},
) {
  return registryCommand(name, {
    about,
    takes: { ...CRATE, '<owner>': 'a user of this registry, or `group:NAME`', ...options },
    examples: Object.fromEntries(
      users.map(user => [`plimsoll owner ${name} demo ${user}`, said(user, 'demo')]),
    ),
    json: 'an object: `crate`; `user`; `changed`, false if it was so before',
    fails: 'there is no such crate or user, or the crate would have no owner left',
    async run(task: RegistryTask<RuleOptions>, name: string, login: string) {
      const crate = await requireCrate(task.registry.database, name)
      if (work === removeOwners) await settleRules(task, crate, login)
      const { changed, unchanged } = await work(task.registry, crate, [login], task.change)
      refuseErrors((await showChanges(task)).issues)
      const user = [...changed, ...unchanged].join()
      const result = { crate: crate.name, user, changed: changed.length > 0 }
      task.report(result, [said(user, crate.name) + (result.changed ? '' : ', as before')])
    },
  })
}

interface RuleOptions {
  readonly rules?: 'keep' | 'remove'
}

/** Asks what becomes of the rules that an owner wrote who is to be none; removes them if so said. */
async function settleRules(
  { registry, options, change }: RegistryTask<RuleOptions>,
  { id, name }: CrateRecord,
  login: string,
): Promise<void> {
  const writer = (await findUser(registry.database, login))?.login ?? login
  const rules = await listRules(registry.database, { crateIds: [id], writers: [writer] })
  if (rules.length > 0 && options.rules === undefined)
    refuse('owner_has_rules', { login: writer, name, rules: rules.map(ruleText).join(', ') })
  if (options.rules !== 'remove') return
  for (const rule of rules) await dropRule(registry.database, rule.id, change)
}

export const registerOwner = commandGroup('owner', 'manage the owners of crates', [
  registerList,
  changing(
    'add',
    'make a user or a group an owner of a crate, without an invitation',
    addOwners,
    (user, crate) => `${user} owns ${crate}`,
    ['alice', 'ci'],
  ),
  changing(
    'remove',
    'remove an owner of a crate, or withdraw an invitation',
    removeOwners,
    (user, crate) => `${user} does not own ${crate} any more`,
    ['ci'],
    {
      '--rules <what>': {
        about: 'what becomes of rules of CI that the user wrote for the crate',
        choices: ['keep', 'remove'],
      },
    },
  ),
])
