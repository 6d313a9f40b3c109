import type { Command } from 'commander'
import {
  type Io,
  type Registry,
  refuse,
  refuseErrors,
  timestamp,
  withDir,
  withRegistry,
} from '../../generator/index.ts'
import {
  addUser,
  listUsers,
  requireUser,
  setAdmin,
  setLocked,
  type User,
} from '../accounts/accounts.ts'
import { makeLink, setPassword } from '../accounts/credentials.ts'
import { byOperator } from '../accounts/operator.ts'
import { passwordIssues } from '../accounts/password.ts'
import { passwordLinkOf } from '../accounts/password-link.ts'
import { endSessions } from '../accounts/sessions.ts'

/** Reads all of standard input. */
export type ReadInput = () => Promise<string>

interface AddOptions {
  readonly dir: string
  readonly admin?: boolean
  readonly passwordStdin?: boolean
}

const FROM_STDIN = 'read the password from standard input: one line'

/** `user …`: the people who may publish. All of it works beside a running daemon. */
export function registerUser(program: Command, io: Io, readInput: ReadInput): void {
  const user = program.command('user').description('the people who may publish')
  withDir(user.command('add'), io)
    .description('add a user')
    .argument('<name>')
    .option('--admin', 'may administer the registry')
    .option('--password-stdin', FROM_STDIN)
    .action((login: string, options: AddOptions) =>
      withRegistry(io, options.dir, async registry => {
        const password = options.passwordStdin ? await readPassword(readInput, login) : null
        const at = timestamp(io.now())
        const added = await addUser(registry.database, { login, admin: options.admin ?? false, at })
        if (password !== null) await givePassword(registry, added, password, at)
        io.out(`added ${added.login}`)
      }),
    )
  withDir(user.command('list'), io)
    .description('list the users')
    .option('--json', 'print as JSON')
    .action((options: { dir: string; json?: boolean }) =>
      withRegistry(io, options.dir, async ({ database }) => {
        const users = await listUsers(database)
        if (options.json) io.out(JSON.stringify(users, null, 2))
        else for (const one of users) io.out(describe(one))
      }),
    )
  withDir(user.command('password'), io)
    .description('set the password of a user; ends their sessions')
    .argument('<name>')
    .requiredOption('--password-stdin', FROM_STDIN)
    .action((login: string, options: { dir: string }) =>
      withRegistry(io, options.dir, async registry => {
        const found = await requireUser(registry.database, login)
        await givePassword(
          registry,
          found,
          await readPassword(readInput, login),
          timestamp(io.now()),
        )
        io.out(`set the password of ${found.login}`)
      }),
    )
  withDir(user.command('link'), io)
    .description('print a link with which a user sets a password: good for 24 hours, and once')
    .argument('<name>')
    .action((login: string, options: { dir: string }) =>
      withRegistry(io, options.dir, async registry => {
        const found = await requireUser(registry.database, login)
        const now = io.now()
        io.out(
          passwordLinkOf(
            registry,
            await makeLink(registry.database, found, now, byOperator(timestamp(now))),
          ),
        )
      }),
    )
  withDir(user.command('logout'), io)
    .description('end all sessions of a user; tokens stay good')
    .argument('<name>')
    .action((login: string, options: { dir: string }) =>
      withRegistry(io, options.dir, async ({ database }) => {
        const found = await requireUser(database, login)
        const sessions = await endSessions(database, found, byOperator(timestamp(io.now())))
        io.out(`ended ${sessions} ${sessions === 1 ? 'session' : 'sessions'} of ${found.login}`)
      }),
    )
  registerRights(user, io)
}

/** `user lock`, `unlock`, `promote`, `demote`. */
function registerRights(user: Command, io: Io): void {
  const rights = [
    ['lock', 'refuse the tokens and sessions of a user', 'locked'],
    ['unlock', 'let a user in again', 'unlocked'],
    ['promote', 'make a user an administrator', 'promoted'],
    ['demote', 'make an administrator an ordinary user', 'demoted'],
  ] as const
  for (const [verb, description, done] of rights) {
    withDir(user.command(verb), io)
      .description(description)
      .argument('<name>')
      .action((login: string, options: { dir: string }) =>
        withRegistry(io, options.dir, async ({ database }) => {
          const found = await requireUser(database, login)
          const change = byOperator(timestamp(io.now()))
          if (verb === 'lock' || verb === 'unlock')
            await setLocked(database, found, verb === 'lock', change)
          else await setAdmin(database, found, verb === 'promote', change)
          io.out(`${done} ${found.login}`)
        }),
      )
  }
}

function describe({ login, admin, locked, created }: User): string {
  return `${login}${admin ? '  admin' : ''}${locked ? '  locked' : ''}  since ${created}`
}

/** One line; a line end at its end belongs to the pipe, not to the password. */
async function readPassword(readInput: ReadInput, login: string): Promise<string> {
  const password = (await readInput()).replace(/\r?\n$/, '')
  if (/[\r\n]/.test(password)) refuse('password_lines')
  refuseErrors(passwordIssues(password, login))
  return password
}

function givePassword(registry: Registry, user: User, password: string, at: string): Promise<void> {
  const cost = registry.settings.auth.password_cost
  return setPassword(registry.database, user, { password, cost }, byOperator(at))
}
