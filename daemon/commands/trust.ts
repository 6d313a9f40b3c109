import { refuse } from '../../core/error/error.ts'
import { unverifiedClaims } from '../../core/trust/claims.ts'
import { parseClaims } from '../../core/trust/rule.ts'
import {
  commandGroup,
  type RegistryTask,
  registryCommand,
} from '../../generator/cli/console/command.ts'
import { printIssues } from '../../generator/cli/console/io.ts'
import { table } from '../../generator/cli/console/table.ts'
import { readText } from '../../generator/places/disk/files.ts'
import {
  addRule,
  dropRule,
  listRules,
  setOnly,
  shownClaims,
  type TrustRule,
  textsOf,
} from '../../generator/trust/rules.ts'
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

/** Returns the claims of the token in a file, whose signature nobody has checked. */
export async function claimsIn(path: string) {
  const text = (await readText(path)) ?? refuse('file_missing', { path })
  return unverifiedClaims(text) ?? refuse('jwt_unreadable', { where: path })
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
    '--owner <username>': 'who owns the crates that it creates',
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
    const from = fromJwt === undefined ? null : await claimsIn(fromJwt)
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
      const claims = textsOf(shownClaims(rule)).join(' ')
      return [
        String(rule.id),
        rule.crate,
        rule.issuer,
        claims,
        rule.owner ?? '',
        rule.used ?? 'never',
      ]
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

export const registerTrust = commandGroup('trust', 'manage which jobs of CI systems publish', [
  registerAdd,
  registerRemove,
  registerList,
  registerOnly,
])
