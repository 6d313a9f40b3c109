import type { Command } from 'commander'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import { passwordIssues } from '../../core/password.ts'
import { counted } from '../../core/quantity.ts'
import { timestamp } from '../../core/timestamp.ts'
import { readRegistry, withRegistry } from '../../generator/cli/console/folder.ts'
import {
  type Caller,
  type FolderOptions,
  type Io,
  report,
  withDir,
} from '../../generator/cli/console/io.ts'
import { withManual } from '../../generator/cli/console/manual.ts'
import { table } from '../../generator/cli/console/table.ts'
import {
  addUser,
  hasNoUsers,
  listUsers,
  requireUser,
  setAdmin,
  setLocked,
  type User,
} from '../../generator/records/accounts/accounts.ts'
import {
  makeLink,
  passwordLink,
  setPassword,
} from '../../generator/records/accounts/credentials.ts'
import { endSessions } from '../../generator/records/accounts/sessions.ts'
import { operatorChange } from '../../generator/records/change.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { registerRemove, registerRename } from './user-removal.ts'

interface AddOptions extends FolderOptions {
  readonly admin?: boolean
  readonly passwordStdin?: boolean
  readonly json?: boolean
}

const JSON_USER = '`id`; `login`, the username; `name`; `admin`; `locked`; `removed`; `created`'

const FROM_STDIN = 'read the password from standard input: one line'

/** Registers the `user` commands, which also work while the daemon is running. */
export function registerUser(program: Command, io: Io, input: Caller): void {
  const user = program.command('user').description('manage the users of the registry')
  registerAdd(user, io, input)
  registerList(user, io)
  registerChanges(user, io, input)
  registerRename(user, io)
  registerRemove(user, io)
}

function registerAdd(user: Command, io: Io, input: Caller): void {
  const add = withDir(user.command('add'), io)
    .description('add a user; the first one is an administrator')
    .argument('<username>', '1 to 39 letters, digits, `.`, `_` and `-`')
    .option('--admin', 'make the user an administrator')
    .option('--password-stdin', FROM_STDIN)
    .action((login: string, options: AddOptions) =>
      withRegistry(io, options, async registry => {
        const password = options.passwordStdin ? await readPassword(input, login) : null
        const at = timestamp(io.now())
        const isFirst = await hasNoUsers(registry.database)
        const admin = isFirst || (options.admin ?? false)
        const added = await addUser(registry.database, { login, admin }, operatorChange(at))
        if (password !== null) await givePassword(registry, added, password, at)
        const role = isFirst ? ', an administrator as the first user' : ''
        report(io, options, added, [`added ${added.login}${role}`])
        if (password === null)
          io.err(
            `next: \`plimsoll user link ${added.login}\` prints a link that sets their password, \`plimsoll token create --user ${added.login}\` a token`,
          )
      }),
    )
  withManual(add, {
    examples: [
      ['plimsoll user add alice', 'adds a user, who sets a password with `user link`'],
      ['plimsoll user add bob --admin', 'adds another administrator'],
      ['plimsoll user add ci --password-stdin < password.txt', 'adds a user with a password'],
    ],
    json: `an object: ${JSON_USER}`,
    fails: 'the username is taken, or the password is refused',
  })
}

function registerList(user: Command, io: Io): void {
  const list = withDir(user.command('list'), io)
    .description('list the users')
    .action((options: FolderOptions & { json?: boolean }) =>
      readRegistry(io, options, async ({ database }) => {
        const users = await listUsers(database)
        const rows = users.map(({ login, admin, locked, removed, created }) => {
          const state = removed ? 'removed' : locked ? 'locked' : 'active'
          return [login, admin ? 'admin' : 'user', state, created]
        })
        report(io, options, users, table(['username', 'role', 'state', 'since'], rows))
      }),
    )
  withManual(list, {
    examples: [['plimsoll user list', 'one line for each user']],
    json: `an array with an object for each user: ${JSON_USER}`,
    fails: 'the registry cannot be read',
  })
}

function registerChanges(user: Command, io: Io, input: Caller): void {
  const password = 'set the password of a user, asked for at the terminal; ends their sessions'
  const setsPassword: UserWork = async (registry, found, at, { passwordStdin }) => {
    const read = passwordStdin ? readPassword : askPassword
    await givePassword(registry, found, await read(input, found.login), at)
    return { line: `set the password of ${found.login}` }
  }
  withUser(user, io, 'password', password, setsPassword).option('--password-stdin', FROM_STDIN)
  const link = 'print a one-time link to set the password of a user; valid for 24 hours'
  const linkJson = '`link`, its URL'
  const makesLink: UserWork = async ({ database, urls }, found, at) => {
    const url = passwordLink(urls, await makeLink(database, found, io.now(), operatorChange(at)))
    return { line: url, more: { link: url } }
  }
  withUser(user, io, 'link', link, makesLink, linkJson)
  const logout = 'end all sessions of a user; tokens stay valid'
  const logsOut: UserWork = async ({ database }, found, at) => {
    const sessions = await endSessions(database, found, operatorChange(at))
    const line = `ended ${counted(sessions, 'session')} of ${found.login}`
    return { line, more: { ended_sessions: sessions } }
  }
  withUser(user, io, 'logout', logout, logsOut, '`ended_sessions`, their number')
  const rights = [
    ['lock', 'refuse the tokens and logins of a user until `unlock`', 'locked', setLocked, true],
    ['unlock', 'accept the tokens and logins of a user again', 'unlocked', setLocked, false],
    ['promote', 'make a user an administrator', 'promoted', setAdmin, true],
    ['demote', 'make an administrator a regular user', 'demoted', setAdmin, false],
  ] as const
  for (const [verb, description, done, set, value] of rights)
    withUser(user, io, verb, description, async ({ database }, found, at) => {
      await set(database, found, value, operatorChange(at))
      return { line: `${done} ${found.login}` }
    })
}

const PASSWORD_EXAMPLES = [
  ['plimsoll user password alice', 'asks for a new password, twice'],
  ['plimsoll user password ci --password-stdin < password.txt', 'takes it from a file'],
] as const

/** Changes a user; returns the text to print, and the first fields for `--json`. */
type UserWork = (
  registry: Registry,
  user: User,
  at: string,
  options: AddOptions,
) => Promise<{ readonly line: string; readonly more?: object }>

/** Adds a command that acts on one existing user; `json` describes the fields that `work` adds. */
function withUser(
  parent: Command,
  io: Io,
  verb: string,
  description: string,
  work: UserWork,
  json = '',
): Command {
  const command = withDir(parent.command(verb), io)
    .description(description)
    .argument('<username>', 'an existing user')
    .action((login: string, options: AddOptions) =>
      withRegistry(io, options, async registry => {
        const { database } = registry
        const user = await requireUser(database, login)
        const { line, more } = await work(registry, user, timestamp(io.now()), options)
        report(io, options, { ...more, ...(await requireUser(database, login)) }, [line])
      }),
    )
  return withManual(command, {
    examples:
      verb === 'password'
        ? PASSWORD_EXAMPLES
        : [[`plimsoll user ${verb} ci`, description.replace(' of a user', '')]],
    json: `an object${json === '' ? ' with' : `: ${json}, and`} the user as it is now: ${JSON_USER}`,
    fails: 'there is no such user, or the change was refused',
  })
}

async function readPassword({ readInput }: Caller, login: string): Promise<string> {
  const password = (await readInput()).replace(/\r?\n$/, '')
  if (/[\r\n]/.test(password)) refuse('password_lines')
  refuseErrors(passwordIssues(password, login))
  return password
}

async function askPassword({ askSecret }: Caller, login: string): Promise<string> {
  if (askSecret === null) return refuse('password_no_terminal')
  const password = await askSecret(`New password of ${login}: `)
  refuseErrors(passwordIssues(password, login))
  if ((await askSecret('The same again: ')) !== password) refuse('passwords_differ')
  return password
}

async function givePassword(registry: Registry, user: User, password: string, at: string) {
  const cost = registry.settings.auth.password_cost
  await setPassword(registry.database, user, { password, cost }, operatorChange(at))
}
