import { refuseErrors } from '../../core/error/error.ts'
import { setMember, titleGroup } from '../../generator/accounts/groups.ts'
import { showChanges } from '../../generator/cli/console/changes.ts'
import {
  commandGroup,
  type RegistryTask,
  registryCommand,
} from '../../generator/cli/console/command.ts'
import { table } from '../../generator/cli/console/table.ts'
import { listGroups, listMemberships } from '../../generator/records/groups.ts'

const GROUP = { '<group>': 'what stands after `group:`; `ISSUER/NAME` where two have the name' }

/** Declares a command that puts a user into a group of this registry, or takes them out. */
function changing(name: 'add' | 'remove', about: string, isMember: boolean) {
  return registryCommand(name, {
    about,
    takes: { ...GROUP, '<username>': 'a user of this registry' },
    examples: { [`plimsoll group ${name} rust alice`]: `${about}: \`group:rust\`` },
    json: 'an object: `group`; `user`; `changed`, false if it was so before',
    fails: 'there is no such user, or the group is one of an issuer',
    async run({ registry, change, report }: RegistryTask, group: string, user: string) {
      const changed = await setMember(registry, group, user, isMember, change)
      const state = isMember ? 'is in' : 'is not in'
      report({ group, user, changed }, [
        `${user} ${state} group:${group}${changed ? '' : ', as before'}`,
      ])
    },
  })
}

const registerList = registryCommand('list', {
  about: 'list the groups of users, as of their last login or by hand',
  examples: { 'plimsoll group list': 'one line for each group of each user' },
  json: 'an array with an object for each group of each user: `issuer`, its URL or `local`; `name`; `title`; `user`; `until`, when it ends without another login',
  fails: 'the registry cannot be read',
  reads: true,
  async run({ registry, report }: RegistryTask) {
    const groups = await listGroups(registry.database)
    const members = (await listMemberships(registry.database)).flatMap(
      ({ login: user, issuer, names, until }) =>
        names.map(name => {
          const recorded = groups.find(group => group.issuer === issuer && group.name === name)
          return { issuer, name, title: recorded?.title ?? null, user, until }
        }),
    )
    const rows = members.map(({ issuer, name, title, user }) => [issuer, name, title ?? '', user])
    report(members, table(['issuer', 'group', 'title', 'user'], rows))
  },
})

const registerTitle = registryCommand('title', {
  about: 'say what a group is called, where its name is a number',
  takes: { ...GROUP, '<title>': 'one line, shown beside the name; "" for none' },
  examples: {
    'plimsoll group title 6f1c0c2e-9f5a-4a3e-8a55-0f6b9a3c1d2e "Rust platform"':
      'pages name the owners "Rust platform"',
  },
  json: 'an object: `group`, as owners are written; `title`',
  fails: 'nobody has the group, or a page could not be rendered',
  async run(task: RegistryTask, group: string, title: string) {
    const { login } = await titleGroup(task.registry, group, title, task.change)
    refuseErrors((await showChanges(task)).issues)
    task.report({ group: login, title }, [`${login} is called "${title}"`])
  },
})

export const registerGroup = commandGroup('group', 'manage groups, which own crates as users do', [
  changing('add', 'put a user into a group of this registry', true),
  changing('remove', 'take a user out of a group of this registry', false),
  registerList,
  registerTitle,
])
