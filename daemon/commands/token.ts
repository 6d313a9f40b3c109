import { Option } from 'commander'
import { refuse } from '../../core/error/error.ts'
import { after, timestamp } from '../../core/timestamp.ts'
import {
  commandGroup,
  type RegistryTask,
  registryCommand,
} from '../../generator/cli/console/command.ts'
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
import { rowId } from '../http/paging.ts'
import { registerTrace } from './token-trace.ts'

interface CreateOptions {
  readonly user: string
  readonly name: string
  readonly scope?: string[]
  readonly crate?: string[]
  readonly expires?: string
}

const JSON_TOKEN =
  '`id`; `name`; `user`; `scopes` and `crates`, arrays of texts, null for all; `created`; `expires` and `last_used`, times or null'

const registerCreate = registryCommand('create', {
  about: 'create a token; stdout gets the token alone, or the JSON text',
  takes: [
    new Option('--user <username>', 'the user it belongs to').makeOptionMandatory(),
    new Option('--name <name>', 'what it is for').default('command line'),
    [
      '--scope <scope...>',
      `what it may do: ${SCOPES.join(', ')}; default: everything its user may do`,
    ],
    [
      '--crate <pattern...>',
      'crates it is valid for: names, or prefixes followed by *; default: all',
    ],
    [
      '--expires <duration>',
      'how long it is valid, such as 90d, 12h, 30m, 10s; default: until revoked',
    ],
  ],
  examples: [
    ['plimsoll token create --user alice --expires 90d', 'may do what alice may'],
    [
      'plimsoll token create --user ci --name deploy --scope publish-update --crate "demo*"',
      'may publish new versions of some crates',
    ],
  ],
  json: `an object: \`token\`, the token itself; ${JSON_TOKEN}`,
  fails: 'there is no such user, or the token was refused',
  async run(task: RegistryTask<CreateOptions>) {
    const created = await makeToken(task)
    task.report(created, [created.token])
  },
})

const registerList = registryCommand('list', {
  about: 'list the tokens that are not revoked',
  examples: [['plimsoll token list', 'one line for each token']],
  json: `an array with an object for each token: ${JSON_TOKEN}`,
  fails: 'the registry cannot be read',
  reads: true,
  async run({ io, registry, report }: RegistryTask) {
    const tokens = await listTokens(registry.database)
    const now = timestamp(io.now())
    const rows = tokens.map(token => cellsOf(token, now))
    report(tokens, table(HEAD, rows))
  },
})

const registerRevoke = registryCommand('revoke', {
  about: 'revoke a token permanently',
  takes: [['<id>', 'its number in the output of `token list`']],
  examples: [['plimsoll token revoke 1', 'makes the token useless at once']],
  json: 'an object: `id`, `name` and `user` of the token',
  fails: 'there is no such token',
  async run({ registry, change, report }: RegistryTask, id: string) {
    const row = rowId(id) ?? refuse('token_id_invalid', { id })
    report(await revokeToken(registry.database, row, change), [`revoked ${id}`])
  },
})

export const registerToken = commandGroup('token', 'manage the tokens that users give to Cargo', [
  registerCreate,
  registerList,
  registerRevoke,
  registerTrace,
])

const HEAD = ['id', 'user', 'name', 'scopes', 'crates', 'expires', 'last used']

function cellsOf(
  { id, user, name, scopes, crates, expires, last_used: used }: TokenRecord,
  now: string,
): string[] {
  const until = expires === null ? 'never' : `${expires <= now ? 'expired ' : ''}${expires}`
  const what = [scopes?.join(' ') ?? 'all', crates?.join(' ') ?? 'all']
  return [String(id), user, name, ...what, until, used ?? 'never']
}

async function makeToken({ io, registry, options, change }: RegistryTask<CreateOptions>) {
  const { database, settings } = registry
  const user = await requireUser(database, options.user)
  if (user.locked) refuse('user_locked', { login: user.login })
  const scopes = options.scope ? parseScopes(options.scope) : null
  const order = {
    userId: user.id,
    name: options.name,
    scopes,
    crates: options.crate ?? null,
    expires: options.expires === undefined ? null : timestamp(after(io.now(), options.expires)),
    most: settings.limits.tokens_per_user,
  }
  const created = await createToken(database, order, change)
  if (settings.auth.required && scopes && !scopes.includes('read')) {
    io.err(
      'warning: this registry is private; without the scope `read`, the token can neither resolve nor download crates',
    )
  }
  return created
}
