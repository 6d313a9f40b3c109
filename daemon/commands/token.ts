import type { Command } from 'commander'
import { refuse } from '../../core/error/error.ts'
import { after, timestamp } from '../../core/timestamp.ts'
import { readRegistry, withRegistry } from '../../generator/cli/console/folder.ts'
import { type FolderOptions, type Io, report, withDir } from '../../generator/cli/console/io.ts'
import { withManual } from '../../generator/cli/console/manual.ts'
import { table } from '../../generator/cli/console/table.ts'
import { requireUser } from '../../generator/records/accounts/accounts.ts'
import {
  createToken,
  listTokens,
  parseScopes,
  revokeToken,
  SCOPES,
  type TokenRecord,
} from '../../generator/records/accounts/tokens.ts'
import { operatorChange } from '../../generator/records/change.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { rowId } from '../http/paging.ts'
import { registerTrace } from './token-trace.ts'

interface CreateOptions extends FolderOptions {
  readonly user: string
  readonly name: string
  readonly scope?: string[]
  readonly crate?: string[]
  readonly expires?: string
  readonly json?: boolean
}

const JSON_TOKEN =
  '`id`; `name`; `user`; `scopes` and `crates`, arrays of texts, null for all; `created`; `expires` and `last_used`, times or null'

/** Registers the `token` commands; a daemon may be running. */
export function registerToken(program: Command, io: Io): void {
  const token = program.command('token').description('manage the tokens that users give to Cargo')
  registerCreate(token, io)
  const list = withDir(token.command('list'), io)
    .description('list the tokens that are not revoked')
    .action((options: FolderOptions & { json?: boolean }) =>
      readRegistry(io, options, async ({ database }) => {
        const tokens = await listTokens(database)
        const now = timestamp(io.now())
        const rows = tokens.map(token => cellsOf(token, now))
        report(io, options, tokens, table(HEAD, rows))
      }),
    )
  withManual(list, {
    examples: [['plimsoll token list', 'one line for each token']],
    json: `an array with an object for each token: ${JSON_TOKEN}`,
    fails: 'the registry cannot be read',
  })
  const revoke = withDir(token.command('revoke'), io)
    .description('revoke a token permanently')
    .argument('<id>', 'its number in the output of `token list`')
    .action((id: string, options: FolderOptions & { json?: boolean }) =>
      withRegistry(io, options, async ({ database }) => {
        const row = rowId(id) ?? refuse('token_id_invalid', { id })
        const revoked = await revokeToken(database, row, operatorChange(timestamp(io.now())))
        report(io, options, revoked, [`revoked ${id}`])
      }),
    )
  withManual(revoke, {
    examples: [['plimsoll token revoke 1', 'makes the token useless at once']],
    json: 'an object: `id`, `name` and `user` of the token',
    fails: 'there is no such token',
  })
  registerTrace(token, io)
}

function registerCreate(token: Command, io: Io): void {
  const create = withDir(token.command('create'), io)
    .description('create a token; stdout gets the token alone, or the JSON text')
    .requiredOption('--user <username>', 'the user it belongs to')
    .option('--name <name>', 'what it is for', 'command line')
    .option(
      '--scope <scope...>',
      `what it may do: ${SCOPES.join(', ')}; default: everything its user may do`,
    )
    .option(
      '--crate <pattern...>',
      'crates it is valid for: names, or prefixes followed by *; default: all',
    )
    .option(
      '--expires <duration>',
      'how long it is valid, such as 90d, 12h, 30m, 10s; default: until revoked',
    )
    .action((options: CreateOptions) =>
      withRegistry(io, options, async registry => {
        const created = await makeToken(io, registry, options)
        report(io, options, created, [created.token])
      }),
    )
  withManual(create, {
    examples: [
      ['plimsoll token create --user alice --expires 90d', 'may do what alice may'],
      [
        'plimsoll token create --user ci --name deploy --scope publish-update --crate "demo*"',
        'may publish new versions of some crates',
      ],
    ],
    json: `an object: \`token\`, the token itself; ${JSON_TOKEN}`,
    fails: 'there is no such user, or the token was refused',
  })
}

const HEAD = ['id', 'user', 'name', 'scopes', 'crates', 'expires', 'last used']

function cellsOf(
  { id, user, name, scopes, crates, expires, last_used: used }: TokenRecord,
  now: string,
): string[] {
  const until = expires === null ? 'never' : `${expires <= now ? 'expired ' : ''}${expires}`
  const what = [scopes?.join(' ') ?? 'all', crates?.join(' ') ?? 'all']
  return [String(id), user, name, ...what, until, used ?? 'never']
}

async function makeToken(io: Io, { database, settings }: Registry, options: CreateOptions) {
  const user = await requireUser(database, options.user)
  if (user.locked) refuse('user_locked', { login: user.login })
  const now = io.now()
  const scopes = options.scope ? parseScopes(options.scope) : null
  const order = {
    userId: user.id,
    name: options.name,
    scopes,
    crates: options.crate ?? null,
    expires: options.expires === undefined ? null : timestamp(after(now, options.expires)),
    most: settings.limits.tokens_per_user,
  }
  const created = await createToken(database, order, operatorChange(timestamp(now)))
  if (settings.auth.required && scopes && !scopes.includes('read')) {
    io.err(
      'warning: this registry is private; without the scope `read`, the token can neither resolve nor download crates',
    )
  }
  return created
}
