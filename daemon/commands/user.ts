import { refuse, refuseErrors } from '../../core/error/error.ts'
import { passwordIssues } from '../../core/password.ts'
import { counted } from '../../core/quantity.ts'
import { sectionOf } from '../../core/settings/named.ts'
import {
  addUser,
  hasNoUsers,
  listUsers,
  requireUser,
  setAdmin,
  setLocked,
  type User,
} from '../../generator/accounts/accounts.ts'
import { makeLink, passwordLink, setPassword } from '../../generator/accounts/credentials.ts'
import {
  type LinkOptions,
  listAccess,
  unlinkIdentity,
} from '../../generator/accounts/oidc-identities.ts'
import { endSessions } from '../../generator/accounts/sessions.ts'
import { showChanges } from '../../generator/cli/console/changes.ts'
import {
  commandGroup,
  type Register,
  type RegistryTask,
  registryCommand,
} from '../../generator/cli/console/command.ts'
import { table } from '../../generator/cli/console/table.ts'
import {
  planRemoval,
  type RemovedUser,
  removeUser,
  renameUser,
} from '../../generator/registry/changes/users.ts'
import { listRules, ruleText } from '../../generator/trust/rules.ts'
import { linkAccount, linkRows, registerMoveIssuer } from './oidc.ts'

interface Options extends LinkOptions {
  readonly admin?: boolean
  /** False with `--no-login`. */
  readonly login?: boolean
  readonly passwordStdin?: boolean
}

const JSON_USER =
  '`id`; `login`, the username; `name`; `admin`; `locked`; `removed`; `machine`, whether nobody can log in; `created`'

const FROM_STDIN = { '--password-stdin': 'read the password from standard input: one line' }

const registerAdd = registryCommand('add', {
  about: 'add a user; the first one is an administrator',
  takes: {
    '<username>': '1 to 39 letters, digits, `.`, `_` and `-`',
    '--admin': 'make the user an administrator',
    '--no-login': 'an account of a machine: nobody can log in, only its tokens work',
    ...FROM_STDIN,
  },
  examples: {
    'plimsoll user add deploy --no-login': 'adds an account for a machine',
    'plimsoll user add alice': 'adds a user, who sets a password with `user link`',
    'plimsoll user add bob --admin': 'adds another administrator',
    'plimsoll user add ci --password-stdin < password.txt': 'adds a user with a password',
  },
  json: `an object: ${JSON_USER}`,
  fails: 'the username is taken, or the password is refused',
  async run(task: RegistryTask<Options>, login: string) {
    const { io, registry, options, change } = task
    const machine = options.login === false
    if (machine && options.passwordStdin) refuse('user_machine', { login })
    const password = options.passwordStdin ? await readPassword(task, login) : null
    const isFirst = (await hasNoUsers(registry.database)) && !machine
    const admin = isFirst || (options.admin ?? false)
    const added = await addUser(registry.database, { login, admin, machine }, change)
    if (password !== null) await givePassword(task, added, password)
    const role = isFirst ? ', an administrator as the first user' : ''
    task.report(added, [`added ${added.login}${role}`])
    const does = registry.settings.auth.passwords === 'on' ? 'sets their password' : 'logs them in'
    const link = `\`plimsoll user link ${added.login}\` prints a link that ${does}, `
    if (password === null)
      io.err(`next: ${machine ? '' : link}\`plimsoll token create --user ${added.login}\` a token`)
  },
})

const registerList = registryCommand('list', {
  about: 'list the users',
  examples: { 'plimsoll user list': 'one line for each user' },
  json: `an array with an object for each user: ${JSON_USER}; \`identities\`, an array of objects with \`issuer\`, \`subject\` and \`logged_in\`, the last login there or null; \`login_due\`, whether tokens wait for a login; \`made\`, what somebody made who can do nothing any more`,
  fails: 'the registry cannot be read',
  reads: true,
  async run({ io, registry, report }: RegistryTask) {
    const { database, settings } = registry
    const users = await listAccess(database, settings, io.now(), await listUsers(database))
    const isLinked = users.some(({ identities, made }) => identities.length + made.length > 0)
    const rows = users.map(user => {
      const { login, admin, locked, removed, machine, created, identities, login_due, made } = user
      const state = removed ? 'removed' : locked ? 'locked' : login_due ? 'login due' : 'active'
      const last = identities.map(({ logged_in: at }) => at ?? '').sort()
      const role = admin ? 'admin' : machine ? 'machine' : 'user'
      const linked = isLinked ? [last.at(-1) ?? '', made.join(', ')] : []
      return [login, role, state, created, ...linked]
    })
    const more = isLinked ? ['last login at issuer', 'left behind'] : []
    const head = ['username', 'role', 'state', 'since', ...more]
    report(users, table(head, rows))
  },
})

/** Changes a user; returns the text to print, and the first fields for `--json`. */
type UserWork = (
  task: RegistryTask<Options>,
  user: User,
) => Promise<{ readonly line: string; readonly more?: object }>

const PASSWORD_EXAMPLES = {
  'plimsoll user password alice': 'asks for a new password, twice',
  'plimsoll user password ci --password-stdin < password.txt': 'takes it from a file',
}

function userCommand(
  verb: string,
  about: string,
  json: string | null,
  work: UserWork,
  takes: Parameters<typeof registryCommand>[1]['takes'] = {},
): Register {
  const isPassword = verb === 'password'
  const example = verb === 'unlink' ? ' --issuer company' : ''
  return registryCommand(verb, {
    about,
    takes: { '<username>': 'an existing user', ...(isPassword && FROM_STDIN), ...takes },
    examples: isPassword
      ? PASSWORD_EXAMPLES
      : { [`plimsoll user ${verb} ci${example}`]: about.replace(' of a user', '') },
    json: `an object${json === null ? ' with' : `: ${json}, and`} the user as it is now: ${JSON_USER}`,
    fails: 'there is no such user, or the change was refused',
    async run(task: RegistryTask<Options>, login: string) {
      const { database } = task.registry
      const { line, more } = await work(task, await requireUser(database, login))
      task.report({ ...more, ...(await requireUser(database, login)) }, [line])
    },
  })
}

const registerPassword = userCommand(
  'password',
  'set the password of a user, asked for at the terminal; ends their sessions',
  null,
  async (task, user) => {
    const read = task.options.passwordStdin ? readPassword : askPassword
    await givePassword(task, user, await read(task, user.login))
    return { line: `set the password of ${user.login}` }
  },
)

const registerLink = userCommand(
  'link',
  'print a one-time link to set the password of a user; valid for 24 hours',
  '`link`, its URL, or null with --issuer',
  async ({ io, registry, options, change }, user) => {
    const line = await linkAccount(registry, user, options, change)
    if (line !== null) return { line, more: { link: null } }
    const secret = await makeLink(registry.database, user, io.now(), change)
    const link = passwordLink(registry.urls, secret)
    return { line: link, more: { link } }
  },
  linkRows,
)

const registerUnlink = userCommand(
  'unlink',
  'take the link of a user to an issuer back; ends their sessions, tokens, and groups there',
  '`tokens`, the number of tokens that were revoked',
  async ({ registry: { database, settings }, options: { issuer: name = '' }, change }, user) => {
    const issuer = sectionOf(settings.oidc, name)?.issuer ?? name
    const tokens = await unlinkIdentity(database, user, issuer, change)
    const ended = tokens === 0 ? '' : `: ${counted(tokens, 'token')} revoked`
    return { line: `${user.login} does not log in at ${issuer} any more${ended}`, more: { tokens } }
  },
  { '--issuer <name>': { about: 'the NAME of its [oidc.NAME], or its URL', isRequired: true } },
)

const registerLogout = userCommand(
  'logout',
  'end all sessions of a user; tokens stay valid',
  '`ended_sessions`, their number',
  async ({ registry, change }, user) => {
    const sessions = await endSessions(registry.database, user, change)
    const line = `ended ${counted(sessions, 'session')} of ${user.login}`
    return { line, more: { ended_sessions: sessions } }
  },
)

const RIGHTS = [
  ['lock', 'refuse the tokens and logins of a user until `unlock`', 'locked', setLocked, true],
  ['unlock', 'accept the tokens and logins of a user again', 'unlocked', setLocked, false],
  ['promote', 'make a user an administrator', 'promoted', setAdmin, true],
  ['demote', 'make an administrator a regular user', 'demoted', setAdmin, false],
] as const

const changesOfRights = RIGHTS.map(([verb, about, done, set, value]) =>
  userCommand(verb, about, null, async ({ registry, change }, user) => {
    await set(registry, user, value, change)
    return { line: `${done} ${user.login}` }
  }),
)

const registerRemove = registryCommand('remove', {
  about:
    'remove a user for good: tokens, logins and ownership end; the name stays taken, and their versions stay',
  takes: {
    '<username>': 'an existing user',
    '--yes': 'really remove; otherwise only show what would end',
  },
  examples: { 'plimsoll user remove robert --yes': 'ends the account; the name stays taken' },
  json: 'an object: `login`; `crates`, an array of names that they owned; `tokens`, the number of tokens that were revoked; `rules`, an array of texts: the rules of CI that they wrote, which stay; `removed`',
  fails:
    'nobody was removed: there is no such user, nobody else owns one of their crates, they are the last administrator, or --yes is missing; or a page could not be rendered',
  reads: ({ yes }) => !yes,
  async run(task: RegistryTask<{ readonly yes?: boolean }>, login: string) {
    const { io, registry, change, report } = task
    const user = await requireUser(registry.database, login)
    const wrote = await listRules(registry.database, { writers: [user.login] })
    const rules = wrote.map(rule => `${ruleText(rule)} for ${rule.crate}`)
    const show = (ended: RemovedUser, removed: boolean) =>
      report({ login: user.login, ...ended, rules, removed }, [
        `${removed ? 'removed' : 'would remove'} ${user.login}: ${counted(ended.tokens, 'token')} revoked, ${counted(ended.crates.length, 'crate')} given up`,
        ...rules.map(rule => `${rule} stays until \`plimsoll trust remove\``),
      ])
    if (!task.options.yes) {
      show(await planRemoval(registry.database, user, registry.settings, io.now()), false)
      refuse('user_remove_unconfirmed')
    }
    const ended = await removeUser(registry, user, change)
    const { issues } = await showChanges(task)
    show(ended, true)
    refuseErrors(issues)
  },
})

const registerRename = registryCommand('rename', {
  about: 'give a user another name; the old one stays taken, tokens and logins go on',
  takes: {
    '<username>': 'an existing user',
    '<new-name>': '1 to 39 letters, digits, `.`, `_` and `-`',
  },
  examples: { 'plimsoll user rename bob robert': 'pages name him so from now on' },
  json: 'an object: `login`, the new name; `before`, the old one',
  fails: 'there is no such user, the new name is taken, or a page could not be rendered',
  async run(task: RegistryTask, login: string, to: string) {
    const { registry, change, report } = task
    const user = await requireUser(registry.database, login)
    await renameUser(registry, user, to, change)
    const { issues } = await showChanges(task)
    report({ login: to, before: user.login }, [`renamed ${user.login} to ${to}`])
    refuseErrors(issues)
  },
})

export const registerUser = commandGroup('user', 'manage the users of the registry', [
  registerAdd,
  registerList,
  registerPassword,
  registerLink,
  registerUnlink,
  registerLogout,
  ...changesOfRights,
  registerRename,
  registerRemove,
  registerMoveIssuer,
])

type PasswordTask = Pick<RegistryTask, 'registry' | 'io'>

function requirePasswords({ registry }: PasswordTask): void {
  if (registry.settings.auth.passwords === 'off') refuse('passwords_off')
}

async function readPassword(task: PasswordTask, login: string): Promise<string> {
  requirePasswords(task)
  const password = (await task.io.readInput()).replace(/\r?\n$/, '')
  if (/[\r\n]/.test(password)) refuse('password_lines')
  refuseErrors(passwordIssues(password, login))
  return password
}

async function askPassword(task: PasswordTask, login: string): Promise<string> {
  requirePasswords(task)
  const { askSecret } = task.io
  if (askSecret === null) return refuse('password_no_terminal')
  const password = await askSecret(`New password of ${login}: `)
  refuseErrors(passwordIssues(password, login))
  if ((await askSecret('The same again: ')) !== password) refuse('passwords_differ')
  return password
}

async function givePassword({ registry, change }: RegistryTask, user: User, password: string) {
  const cost = registry.settings.auth.password_cost
  await setPassword(registry.database, user, { password, cost }, change)
}
