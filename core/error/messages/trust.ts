import type { MessageTable } from './kind.ts'

const list = (values: readonly string[]) => values.map(value => `\`${value}\``).join(', ')
const given = (values: readonly string[]) => (values.length === 0 ? 'absent' : list(values))

/** A claim that a rule does not let through; the noun and name say whose token it is. */
export interface RuleDifference {
  readonly noun: string
  readonly name: string
  readonly claim: string
  readonly was: readonly string[]
  readonly wanted: readonly string[]
  readonly rule: number
  readonly kind: string
}

/** The sentence of crates.io for a claim, where it has one. */
function differenceText({ noun, name, claim, was, wanted, kind }: RuleDifference): string {
  const config = `The Trusted Publishing config for ${noun} \`${name}\``
  const isGitLab = kind === 'gitlab'
  if (['repository_owner_id', 'namespace_id'].includes(claim)) {
    const owner = isGitLab ? 'namespace' : 'owner'
    const id = isGitLab ? 'namespace ID' : 'repository owner ID'
    return `${config} does not match the ${id} (${was.join()}) in the JWT. Expected ${owner} IDs: ${wanted.join(', ')}. Please recreate the Trusted Publishing config to update the ${id}.`
  }
  if (claim === 'workflow') {
    const file = isGitLab ? 'filepath' : 'filename'
    return `${config} does not match the workflow ${file} \`${was.join()}\` in the JWT. Expected workflow ${file}s: ${list(wanted)}`
  }
  if (claim !== 'environment')
    return `${config} does not match the claim \`${claim}\` in the JWT. Expected: ${list(wanted)}`
  return was.length === 0
    ? `${config} requires an environment, but the JWT does not specify one. Expected environments: ${list(wanted)}`
    : `${config} does not match the environment \`${was.join()}\` in the JWT. Expected environments: ${list(wanted)}`
}

// biome-ignore format: a message is one line, which a search for its words shows with its code.
export const trustMessages = {
  misuse: {
    issuer_shared: '`issuer.{name}.shared` cannot be false: everybody can have an account at {issuer}',
    issuer_reuse: '`issuer.{name}.reuse` cannot be true: strangers use this issuer, too, and a token is good once',
    issuer_unknown: 'there is no issuer `{name}`; add a section [issuer.{name}] to plimsoll.toml, and restart the daemon',
    rule_id_invalid: '`{id}` is not the number of a rule; `plimsoll trust list` has them',
    jwt_unreadable: '{where} has no token of a CI system: it is not a JWT with claims',
    jwt_variable_empty: 'the variable {name} is empty; in GitLab, `id_tokens` of the job sets it, with `aud: {audience}`',
    audience_unknown: 'the settings have no base URL, so what `aud` has to be is not known; say it with --audience',
    exchange_url_missing: 'the address of the registry is missing; say it with --registry, such as https://crates.example.com',
  },
  unauthorized: {
    trusted_token_rejected: 'Invalid authentication token: it is unknown, revoked, or older than 30 minutes; exchange a new one',
    trusted_token_crate: 'The provided access token is not valid for crate `{name}`: no rule of its issuer lets it publish that now',
    trusted_token_only: 'a token of trusted publishing does nothing but publish, and read for it; use a token of a user',
    trusted_only: ({ name, pattern }: { name: string; pattern: string }) =>
      pattern.endsWith('*')
        ? `New versions of this crate can only be published using Trusted Publishing: \`${pattern}\` has \`${name}\` take them from CI alone; an administrator can turn that off at /me/admin/trust`
        : `New versions of this crate can only be published using Trusted Publishing: \`${name}\` takes them from CI alone; an owner can turn that off at /me/crates/${name}`,
    rule_owner_locked: '`{login}`, which rule {rule} makes the first owner of new crates, can do nothing: the account is locked, gone, or has to log in at its issuer again, or nobody in the group can act; if that stays so, ask an administrator to write the rule anew',
  },
  invalid: {
    jwt_invalid: 'Failed to decode JWT: {reason}',
    jwt_issuer_unknown: 'Unsupported JWT issuer: {iss}',
    jwt_key_missing: 'Missing JWT key ID',
    jwt_key_unknown: 'Invalid JWT key ID',
    jwt_used: 'JWT has already been used',
    event_unsafe: 'Trusted Publishing does not support the `{event}` event trigger due to security concerns. Please use a different trigger such as `push`, `release`, or `workflow_dispatch`.',
    claim_unexpected: 'Unexpected `{claim}` value',
    rule_none: 'No Trusted Publishing config found for repository `{repository}`.',
    rule_none_other: 'no rule for {subject}',
    rule_differs: (p: RuleDifference) => `${differenceText(p)}: \`${p.claim}\` was ${given(p.was)}, and rule ${p.rule} wants ${list(p.wanted)}`,
    rule_claims_none: 'a rule needs claims: which repository, which workflow, which branch',
    rule_claims_many: 'a rule may compare at most {max} claims',
    rule_values_many: 'the claim `{name}` may have at most {max} values',
    rule_claim_name: '`{name}` names no claim; write a name such as `repository`, or a JSON pointer such as `/kubernetes.io/namespace`',
    rule_claim_value: 'the claim `{name}` cannot be `{value}`: a value has 1 to 255 characters on one line',
    rule_claim_glob: 'the claim `{name}` cannot be `{value}`: `*` stands for any text without `/`, and `**` for any text, in `ref` only; name each value',
    rule_owner_missing: 'strangers use this issuer, too, so a rule has to name who may publish: one of the claims `{claims}`',
    rule_issuer_shared: 'strangers may use this issuer, too, and its kind names no owner; if only you use it, set `issuer.NAME.shared` to false',
    rule_any_ref: 'the rule names neither `ref` nor `environment`, so whoever may push any branch can publish',
    rule_pattern_invalid: '`{pattern}` is neither the name of a crate nor a prefix such as `acme-*`',
    rule_needs_owner: 'a rule that creates crates has to name who owns them; say it with --owner USER or --owner group:NAME',
    rule_owner_given: 'the crate `{name}` is there and has its owners, so a rule for it names no other',
    rule_jwt_differs: 'the token has `{claim}` {was}, and the rule wants {wanted}; take the ids from a token of a job that may publish',
    not_own_crate: 'You are not an owner of this crate',
    owner_has_rules: '`{login}` has written rules by which jobs publish `{name}`, and which stay: {rules}; say with --rules whether to `keep` or to `remove` them',
    configs_which: 'say which rules: `crate` or `user_id`, one of them',
    body_invalid: 'the body cannot be read: {reason}',
    exchange_refused: 'the registry gives no token for this one ({status}): {reason}',
    exchange_failed: '{url} cannot be asked: {reason}',
  },
  conflict: {
    rules_too_many: (p: { max: number; kind: string }) => {
      const name = { github: 'GitHub ', gitlab: 'GitLab ' }[p.kind] ?? ''
      return `This crate already has the maximum number of ${name}Trusted Publishing configurations (${p.max})`
    },
  },
  not_found: {
    rule_unknown: 'there is no rule {id}; `plimsoll trust list` has them',
  },
  unsupported: {
    content_type_json: 'Expected request with `Content-Type: application/json`',
  },
  unprocessable: {
    json_shape: 'the JSON has another shape: {reason}',
  },
  denied: {
    authorization_missing: 'Missing `Authorization` header',
    authorization_scheme: 'Invalid `Authorization` header: Found unexpected authentication scheme `{scheme}`',
    authorization_unparsed: 'Invalid `Authorization` header: Failed to parse token',
    authorization_text: 'Invalid `Authorization` header: Found unexpected non-ASCII characters',
  },
  failed: {
    issuer_keys: 'Failed to load OIDC key set: {reason}',
  },
} as const satisfies MessageTable
