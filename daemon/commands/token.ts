import { refuse, refuseErrors } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { after, before, isPubtime, latest, timestamp } from '../../core/timestamp.ts'
import type { Version } from '../../core/version.ts'
import { requireUser } from '../../generator/accounts/accounts.ts'
import {
  createToken,
  listPublished,
  listTokens,
  parseScopes,
  revokeToken,
  SCOPES,
} from '../../generator/accounts/tokens.ts'
import { showChanges } from '../../generator/cli/console/changes.ts'
import {
  commandGroup,
  type RegistryTask,
  registryCommand,
} from '../../generator/cli/console/command.ts'
import { table } from '../../generator/cli/console/table.ts'
import { setYanked } from '../../generator/records/releases-changes.ts'
import type { PublishedWith } from '../../generator/records/releases-stored.ts'
import { rowId } from '../http/paging.ts'
import { registerExchange } from './trust.ts'

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
  takes: {
    '--user <username>': { about: 'the user it belongs to', isRequired: true },
    '--name <name>': { about: 'what it is for', default: 'command line' },
    '--scope <scope...>': `what it may do: ${SCOPES.join(', ')}; default: everything its user may do`,
    '--crate <pattern...>':
      'crates it is valid for: names, or prefixes followed by *; default: all',
    '--expires <duration>':
      'how long it is valid, such as 90d, 12h, 30m, 10s; default: until revoked',
  },
  examples: {
    'plimsoll token create --user alice --expires 90d': 'may do what alice may',
    'plimsoll token create --user ci --name deploy --scope publish-update --crate "demo*"':
      'may publish new versions of some crates',
  },
  json: `an object: \`token\`, the token itself; ${JSON_TOKEN}`,
  fails: 'there is no such user, or the token was refused',
  async run({ io, registry, options, change, report }: RegistryTask<CreateOptions>) {
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
    report(created, [created.token])
  },
})

interface ListOptions {
  readonly user?: string
  readonly unusedSince?: string
  readonly expiresBefore?: string
}

/** Returns the time of a date such as 2026-12-31, which is in UTC, or of a duration. */
function timeOf(now: Date, text: string, since: typeof before): string {
  return isPubtime(`${text}T00:00:00Z`) ? text : timestamp(since(now, text))
}

const registerList = registryCommand('list', {
  about: 'list the tokens that are not revoked',
  takes: {
    '--user <username>': 'only those of this user',
    '--unused-since <time>':
      'only those not used, or made, since: a date, or a duration before now such as 90d',
    '--expires-before <time>':
      'only those that expire before: a date, or a duration from now such as 30d',
  },
  examples: {
    'plimsoll token list': 'one line for each token',
    'plimsoll token list --user alice --unused-since 90d': 'those that nobody may miss',
    'plimsoll token list --expires-before 14d': 'those to be renewed in two weeks, or too late',
  },
  json: `an array with an object for each token: ${JSON_TOKEN}`,
  fails: 'there is no such user, or the registry cannot be read',
  reads: true,
  async run({ io, registry, options, report }: RegistryTask<ListOptions>) {
    const { user, unusedSince, expiresBefore } = options
    const of = user === undefined ? undefined : (await requireUser(registry.database, user)).id
    const [now, far] = [timestamp(io.now()), latest(io.now())]
    // A time of a clock that was wrong says nothing.
    const last = (used: string | null, created: string) =>
      [used, created].find(at => at !== null && at <= far) ?? ''
    const unused = unusedSince && timeOf(io.now(), unusedSince, before)
    const end = expiresBefore && timeOf(io.now(), expiresBefore, after)
    const tokens = (await listTokens(registry.database, of)).filter(
      ({ last_used: used, created, expires }) =>
        (!unused || last(used, created) < unused) && (!end || (expires !== null && expires < end)),
    )
    const rows = tokens.map(({ id, user, name, scopes, crates, expires, last_used: used }) => {
      const until = expires === null ? 'never' : `${expires <= now ? 'expired ' : ''}${expires}`
      const what = [scopes?.join(' ') ?? 'all', crates?.join(' ') ?? 'all']
      return [String(id), user, name, ...what, until, used ?? 'never']
    })
    const head = ['id', 'user', 'name', 'scopes', 'crates', 'expires', 'last used']
    report(tokens, table(head, rows))
  },
})

const registerRevoke = registryCommand('revoke', {
  about: 'revoke a token permanently',
  takes: { '<id>': 'its number in the output of `token list`' },
  examples: { 'plimsoll token revoke 1': 'makes the token useless at once' },
  json: 'an object: `id`, `name` and `user` of the token',
  fails: 'there is no such token',
  async run({ registry, change, report }: RegistryTask, id: string) {
    const row = rowId(id) ?? refuse('token_id_invalid', { id })
    report(await revokeToken(registry.database, row, change), [`revoked ${id}`])
  },
})

const registerTrace = registryCommand('trace', {
  about: 'list the versions that a token has published, also a revoked one',
  takes: {
    '<id>': 'its number in the output of `token list` or `audit`',
    '--since <duration>': 'only those of this last period, such as 90d, 12h, 30m, 10s',
    '--yank': 'yank them',
  },
  examples: {
    'plimsoll token trace 1': 'a line for each version',
    'plimsoll token trace 1 --since 2d --yank': 'yanks what it has published in two days',
  },
  json: 'an array with an object for each version: `name`; `version`; `at`; `address`, from where, or null; `state`: `available`, `yanked` or `deleted`',
  fails: 'there is no such token, or a yank could not be rendered',
  async run(task: RegistryTask<{ since?: string; yank?: boolean }>, id: string) {
    const { io, registry, options, report } = task
    const token = rowId(id) ?? refuse('token_id_invalid', { id })
    const since = options.since === undefined ? '' : timestamp(before(io.now(), options.since))
    const releases = await listPublished(registry.database, token, since)
    const shown = options.yank ? await yankAll(task, releases) : releases
    const rows = shown.map(row => [row.at, row.name, row.version, row.address ?? '', row.state])
    report(shown, table(['published', 'crate', 'version', 'from', 'state'], rows))
  },
})

/** Yanks those that are not yanked. A killed run is simply repeated. */
async function yankAll(
  task: RegistryTask,
  releases: readonly PublishedWith[],
): Promise<PublishedWith[]> {
  const { registry, change } = task
  const yanked: PublishedWith[] = []
  for (const release of releases) {
    const { name, version, state } = release
    if (state === 'available')
      await setYanked(registry, name as Name, version as Version, true, change)
    yanked.push(state === 'available' ? { ...release, state: 'yanked' } : release)
  }
  refuseErrors((await showChanges(task)).issues)
  return yanked
}

export const registerToken = commandGroup('token', 'manage the tokens that users give to Cargo', [
  registerCreate,
  registerList,
  registerRevoke,
  registerTrace,
  registerExchange,
])
