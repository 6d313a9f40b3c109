import { refuse } from '../../core/error/error.ts'
import { parseName } from '../../core/name.ts'
import type { IssuerSettings } from '../../core/settings/issuer.ts'
import { unverified } from '../../core/trust/claims.ts'
import { parseClaims, shownClaims, textsOf } from '../../core/trust/rule.ts'
import { registryUrls } from '../../core/urls/urls.ts'
import {
  command,
  commandGroup,
  type RegistryTask,
  registryCommand,
  type Task,
} from '../../generator/cli/console/command.ts'
import { Exit, printIssues } from '../../generator/cli/console/io.ts'
import { looseSettings } from '../../generator/cli/console/loose-settings.ts'
import { table } from '../../generator/cli/console/table.ts'
import { readText } from '../../generator/places/disk/files.ts'
import { exchangeAt } from '../../generator/trust/client.ts'
import { explain } from '../../generator/trust/exchange.ts'
import { listRules, type TrustRule } from '../../generator/trust/rules.ts'
import { addRule, dropRule, setOnly } from '../../generator/trust/rules-changes.ts'
import { audiencesOf } from '../../generator/trust/verify.ts'
import { rowId } from '../http/paging.ts'

const JSON_RULE =
  '`id`; `crate`, a name or a prefix and `*`; `issuer`; `claims`, an object with an array of values for each; `owner`, of crates that it creates, or null; `used`, a time or null'

/** Returns a rule as `--json` prints it. */
function shown(rule: TrustRule) {
  const { id, crate, issuer, owner, used } = rule
  return { id, crate, issuer, claims: Object.fromEntries(shownClaims(rule)), owner, used }
}

interface AddOptions {
  readonly issuer: string
  readonly claim: string[]
  readonly owner?: string
  readonly fromJwt?: string
}

/** Returns what the token in a file says, whose signature nobody has checked. */
async function tokenIn(path: string) {
  const text = (await readText(path)) ?? refuse('file_missing', { path })
  const [header, claims] = [unverified(text, 0), unverified(text)]
  return header && claims ? { header, claims } : refuse('jwt_unreadable', { where: path })
}

const registerAdd = registryCommand('add', {
  about: 'let jobs of a CI system publish a crate, or crates that are not there yet',
  takes: {
    '<crate>': 'the name of a crate, or a prefix followed by *',
    '--issuer <name>': { about: 'the NAME of its [issuer.NAME]', isRequired: true },
    '--claim <key=value...>': {
      about: 'what a claim of the token has to be; a repeated key means any of its values',
      isRequired: true,
    },
    '--owner <username>': 'who owns the crates that it creates: a user, or a group as `group:NAME`',
    '--from-jwt <file>': 'a token of such a job, from which the numeric ids are taken',
  },
  examples: {
    'plimsoll trust add demo --issuer github --claim repository=acme/demo workflow=release.yml environment=release':
      'publishes versions of demo',
    'plimsoll trust add "acme-*" --issuer github --claim repository_owner=acme ref=refs/heads/main --owner alice':
      'creates crates, which alice owns',
  },
  json: `an object: ${JSON_RULE}`,
  fails: 'there is no such issuer or user, or the rule would let strangers publish',
  async run({ io, registry, change, options, report }: RegistryTask<AddOptions>, crate: string) {
    const { issuer, owner = null, fromJwt } = options
    const from = fromJwt === undefined ? null : (await tokenIn(fromJwt)).claims
    const order = { crate, issuer, claims: parseClaims(options.claim), owner, from }
    const { rule, warnings } = await addRule(registry, order, change)
    printIssues(io, warnings)
    report(shown(rule), [`rule ${rule.id} lets jobs of ${issuer} publish ${rule.crate}`])
  },
})

const registerRemove = registryCommand('remove', {
  about: 'remove a rule; tokens that jobs got by it publish nothing more',
  takes: { '<id>': 'its number in the output of `trust list`' },
  examples: { 'plimsoll trust remove 1': 'jobs publish nothing by it any more' },
  json: `an object: ${JSON_RULE}`,
  fails: 'there is no such rule',
  async run({ registry, change, report }: RegistryTask, id: string) {
    const row = rowId(id) ?? refuse('rule_id_invalid', { id })
    report(shown(await dropRule(registry.database, row, change)), [`removed rule ${id}`])
  },
})

const registerList = registryCommand('list', {
  about: 'list the rules by which jobs publish',
  takes: { '--unused': 'only those that were never used; they end after 30 days' },
  examples: { 'plimsoll trust list --unused': 'those that may be mistakes' },
  json: `an array with an object for each rule: ${JSON_RULE}`,
  fails: 'the registry cannot be read',
  reads: true,
  async run({ registry, options, report }: RegistryTask<{ readonly unused?: boolean }>) {
    const all = await listRules(registry.database)
    const rules = all.filter(({ used }) => !options.unused || used === null)
    const rows = rules.map(rule => {
      const { id, crate, issuer, owner, used } = rule
      const claims = textsOf(shownClaims(rule)).join(' ')
      return [`${id}`, crate, issuer, claims, owner ?? '', used ?? 'never']
    })
    report(rules.map(shown), table(['id', 'crate', 'issuer', 'claims', 'owner', 'used'], rows))
  },
})

const registerOnly = registryCommand('only', {
  about: 'have new versions come from CI only: no token of a user publishes them',
  takes: {
    '<crate>': 'the name of a crate, or a prefix followed by *',
    '--off': 'tokens of users publish again',
  },
  examples: {
    'plimsoll trust only demo': 'versions of demo come from CI only',
    'plimsoll trust only demo --off': 'owners publish again, too',
  },
  json: 'an object: `crate`; `only`; `changed`, false if it was so before',
  fails: 'the name is none',
  async run(task: RegistryTask<{ readonly off?: boolean }>, crate: string) {
    const { registry, change, options, report } = task
    const only = options.off !== true
    const changed = await setOnly(registry.database, crate, only, change)
    const what = only ? 'come from CI only' : 'come from owners, too'
    report({ crate, only, changed }, [
      `versions of ${crate} ${what}${changed ? '' : ', as before'}`,
    ])
  },
})

interface TestOptions {
  readonly jwt: string
  readonly crate?: string
  readonly audience?: string
}

const registerTest = registryCommand('test', {
  about: 'explain what the rules say of a token, without using it up',
  takes: {
    '--jwt <file>': { about: 'the token of a CI job', isRequired: true },
    '--crate <crate>': 'the crate that it shall publish; default: any',
    '--audience <text>': 'what `aud` has to be, where the settings have no base URL',
  },
  examples: { 'plimsoll trust test --jwt token.txt --crate demo': 'names the claim that differs' },
  json: 'an object: `allowed`; `issuer`, its name or null; `issues`, an array of texts; `rules`, an array with `id` and `differences`, each with `claim`, `was` and `wanted`',
  fails: 'no rule lets the token through',
  reads: true,
  async run({ io, registry, options, report }: RegistryTask<TestOptions>) {
    const { settings, urls, database } = registry
    const { crate, audience } = options
    const token = await tokenIn(options.jwt)
    const audiences = (issuer: IssuerSettings) => {
      if (audience !== undefined) return [audience]
      const isKnown = settings.registry.base_url !== null || issuer.audience.length > 0
      return isKnown ? audiencesOf(issuer, urls) : refuse('audience_unknown')
    }
    const name = crate === undefined ? null : parseName(crate)
    const issuers = Object.values(settings.issuer)
    const question = { ...token, issuers, audiences, crate: name, now: io.now() }
    const { issuer, issues, rules } = await explain(database, question)
    const result = {
      allowed: issues.length === 0,
      issuer,
      issues: issues.map(({ message }) => message),
      rules: rules.map(({ rule: { id }, differences }) => ({ id, differences })),
    }
    const lines = rules.map(({ rule: { id, crate: of }, differences: [first, ...more] }) => {
      if (!first) return `rule ${id} lets it publish ${of}`
      const [was, wanted] = [first.was.join(', ') || 'absent', first.wanted.join(' or ')]
      const rest = more.length === 0 ? '' : `, and ${more.length} more claims differ`
      return `rule ${id} for ${of} does not: \`${first.claim}\` is ${was}, not ${wanted}${rest}`
    })
    report(result, [...lines, 'The signature of the token was not checked.'])
    printIssues(io, issues)
    if (issues.length > 0) throw new Exit(1)
  },
})

interface ExchangeOptions {
  readonly jwtEnv: string
  readonly registry?: string
}

/** `token exchange`, for jobs of CI systems that have no action for it. */
export const registerExchange = command('exchange', {
  about: 'get a token for that of a CI job; stdout gets the token alone',
  takes: {
    '--jwt-env <name>': { about: 'the variable with the token of the job', isRequired: true },
    '--registry <url>': 'the address of the registry; default: that of the settings',
  },
  examples: {
    'plimsoll token exchange --jwt-env PLIMSOLL_ID_TOKEN --registry https://crates.example.com':
      'prints a token that publishes for 30 minutes',
  },
  json: 'an object: `token`',
  fails: 'the registry cannot be asked, or gives no token',
  async run(task: Task<ExchangeOptions>) {
    const { io, options, report } = task
    const { jwtEnv } = options
    const api = options.registry ?? registryOf(task)
    const jwt = io.env[jwtEnv]?.trim() ?? ''
    const audience = api.replace(/^https?:\/\/|\/$/g, '')
    if (jwt === '') refuse('jwt_variable_empty', { name: jwtEnv, audience })
    const token = await exchangeAt(api, jwt, io.env)
    // GitHub and Forgejo hide it from their logs then; the line is read on either stream.
    if (io.env.GITHUB_ACTIONS === 'true') io.err(`::add-mask::${token}`)
    report({ token }, [token])
  },
})

function registryOf(task: Task): string {
  const { registry, server } = looseSettings(task, false).settings
  if (registry.base_url === null) return refuse('exchange_url_missing')
  const { api, base } = registryUrls(registry, `http://${server.listen}`)
  return api ?? base
}

export const registerTrust = commandGroup('trust', 'manage which jobs of CI systems publish', [
  registerAdd,
  registerRemove,
  registerList,
  registerOnly,
  registerTest,
])
