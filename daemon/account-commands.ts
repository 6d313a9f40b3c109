import type { Command } from 'commander'
import { type Io, issue, Refusal, type Registry, refuse, timestamp, withDir, withRegistry } from '../generator/index.ts'
import { addUser, findUser, listUsers } from './accounts.ts'
import { createToken, listTokens, revokeToken, SCOPES, type Scope } from './tokens.ts'

/** `user add`, `user list`: they work beside a running daemon. */
export function registerUser(program: Command, io: Io): void {
  const user = program.command('user').description('the people who may publish')
  withDir(user.command('add'), io)
    .description('add a user')
    .argument('<name>')
    .option('--admin', 'may administer the registry')
    .action((login: string, options: { dir: string; admin?: boolean }) =>
      withRegistry(io, options.dir, async ({ database }) => {
        const added = await addUser(database, { login, admin: options.admin ?? false, at: timestamp(io.now()) })
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
        else for (const one of users) io.out(`${one.login}${one.admin ? '  admin' : ''}  since ${one.created}`)
      }),
    )
}

interface CreateOptions {
  readonly dir: string
  readonly user: string
  readonly name: string
  readonly scope?: string[]
  readonly crate?: string[]
  readonly expires?: string
}

/** `token create`, `token list`, `token revoke`: they work beside a running daemon. */
export function registerToken(program: Command, io: Io): void {
  const token = program.command('token').description('what people show to Cargo')
  withDir(token.command('create'), io)
    .description('create a token; prints it, and nothing else, on stdout')
    .requiredOption('--user <name>', 'whose token it is')
    .option('--name <name>', 'what it is for', 'command line')
    .option('--scope <scope...>', `what it may do: ${SCOPES.join(', ')}; default: everything its user may`)
    .option('--crate <pattern...>', 'crates it is good for: names, or beginnings followed by *; default: all')
    .option('--expires <duration>', 'how long it is good, such as 90d, 12h, 30m, 10s; default: until revoked')
    .action((options: CreateOptions) =>
      withRegistry(io, options.dir, async registry => io.out(await create(io, registry, options))),
    )
  withDir(token.command('list'), io)
    .description('list the tokens that are not revoked')
    .option('--json', 'print as JSON')
    .action((options: { dir: string; json?: boolean }) =>
      withRegistry(io, options.dir, async ({ database }) => {
        const tokens = await listTokens(database)
        if (options.json) io.out(JSON.stringify(tokens, null, 2))
        else for (const one of tokens) io.out(`${one.id}  ${one.user}  ${one.name}  ${one.scopes?.join(' ') ?? 'all'}`)
      }),
    )
  withDir(token.command('revoke'), io)
    .description('revoke a token for good')
    .argument('<id>', 'its number in `token list`')
    .action((id: string, options: { dir: string }) =>
      withRegistry(io, options.dir, async ({ database }) => {
        await revokeToken(database, Number(id), timestamp(io.now()))
        io.out(`revoked ${id}`)
      }),
    )
}

async function create(io: Io, { database }: Registry, options: CreateOptions): Promise<string> {
  const user = await findUser(database, options.user)
  if (!user) return refuse('login_unknown', { login: options.user })
  const now = io.now()
  return createToken(database, {
    userId: user.id,
    name: options.name,
    scopes: options.scope ? options.scope.map(parseScope) : null,
    crates: options.crate ?? null,
    at: timestamp(now),
    expires: options.expires === undefined ? null : timestamp(after(now, options.expires)),
  })
}

function parseScope(text: string): Scope {
  const scope = SCOPES.find(one => one === text)
  if (!scope) throw new Refusal([issue('scope_invalid', { scope: text, accepted: SCOPES.join(', ') })])
  return scope
}

const SECONDS = { d: 86_400, h: 3600, m: 60, s: 1 } as const

function after(now: Date, text: string): Date {
  const match = /^([1-9][0-9]{0,6})([dhms])$/.exec(text)
  if (!match) return refuse('duration_invalid', { text })
  return new Date(now.getTime() + Number(match[1]) * SECONDS[match[2] as keyof typeof SECONDS] * 1000)
}
