import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalName, canonicalPattern, parseName, patternsOf } from '../../../core/name.ts'
import type { IssuerKind } from '../../../core/settings/issuer.ts'
import { refusalOf } from '../../../core/trust/explain.ts'
import { unfitFor, workflowOf } from '../../../core/trust/kinds.ts'
import {
  differences,
  type Pin,
  parseClaims,
  pinsAfter,
  ruleIssues,
  ruleKeys,
  tokenKeys,
} from '../../../core/trust/rule.ts'
import { JOBS, RULES } from '../../support/trusted-jobs.ts'

const KINDS = Object.keys(JOBS) as IssuerKind[]

/** The claims that keep a token from a rule. */
function kept(
  kind: IssuerKind,
  rule: readonly string[],
  more: object = {},
  pins: readonly Pin[] = [],
): string[] {
  const claims = { ...JOBS[kind], ...more }
  const found = differences(kind, { claims: parseClaims(rule), pins }, claims)
  return found.map(({ claim }) => claim)
}

test('a rule lets the job of its kind through, and both find each other by a key', () => {
  for (const kind of KINDS) {
    assert.deepEqual(kept(kind, RULES[kind]), [], kind)
    const keys = tokenKeys(kind, JOBS[kind])
    assert.ok(
      ruleKeys(kind, parseClaims(RULES[kind])).every(key => keys.includes(key)),
      kind,
    )
  }
})

test('each claim is compared as it has to be', () => {
  const rows: [kind: IssuerKind, rule: string[], more: object, kept: string[]][] = [
    // Owner, repository and environment without regard to case; all else exactly.
    ['github', ['repository=ACME/DEMO'], {}, []],
    ['github', ['repository_owner=Acme'], {}, []],
    ['github', ['repository=acme/demo', 'environment=Release'], { environment: 'RELEASE' }, []],
    ['github', ['repository=acme/demo', 'ref=refs/heads/Main'], {}, ['ref']],
    ['github', ['repository=acme/demo', 'workflow=Release.yml'], {}, ['workflow']],
    // No letter but an ASCII letter is one: the Kelvin sign is no k.
    ['other', ['environment=\u212a'], { environment: 'k' }, ['environment']],
    ['gitlab', ['project_path=Acme/Tools/Demo'], {}, []],
    // The name of a workflow is not its file, and that of a called one is not, either.
    ['github', ['repository=acme/demo', 'workflow=Release'], {}, ['workflow']],
    ['github', ['repository=acme/demo', 'workflow=publish.yml'], {}, ['workflow']],
    ['github', ['repository=acme/demo', '/workflow=Release'], {}, []],
    // Any of several values; globs in `ref` alone.
    ['github', ['repository=x/y', 'repository=acme/demo'], {}, []],
    ['github', ['repository=acme/demo', 'ref=refs/tags/v*', 'ref=refs/heads/m*n'], {}, []],
    ['github', ['repository=acme/demo', 'ref=refs/*/v*.*'], { ref: 'refs/tags/v1.2' }, []],
    ['github', ['repository=acme/demo', 'ref=a*a'], { ref: 'a' }, ['ref']],
    // As in GitHub's filters, one `*` ends at a slash.
    ['github', ['repository=acme/demo', 'ref=refs/heads/*'], { ref: 'refs/heads/a/b' }, ['ref']],
    ['github', ['repository=acme/demo', 'ref=refs/heads/**'], { ref: 'refs/heads/a/b' }, []],
    ['github', ['repository=acme/demo', 'ref=refs/**/v*'], { ref: 'refs/tags/a/v1' }, []],
    ['github', ['repository=acme/demo', 'ref=refs/**/v*'], { ref: 'refs/tags/v1/x' }, ['ref']],
    ['github', ['repository=acme/demo', 'ref=a**'], { ref: 'a'.repeat(1001) }, ['ref']],
    ['github', ['repository=acme/*'], {}, ['repository']],
    // Both forms of `sub`, because none is compared.
    ['github', ['repository=acme/demo'], { sub: 'repo:acme@123/demo@456:ref:refs/heads/main' }, []],
    // Texts, numbers and booleans as texts; a text is no array.
    [
      'gitlab',
      ['project_path=acme/tools/demo', 'ref_protected=true'],
      { ref_protected: 'false' },
      ['ref_protected'],
    ],
    ['other', ['build=12', 'ok=true'], { build: 12, ok: true }, []],
    ['other', ['groups=crates'], {}, ['groups']],
    ['other', ['/groups=crates'], {}, []],
    ['other', ['/groups/1=crates'], {}, []],
    ['other', ['/team=crates'], {}, []],
    ['other', ['team=crates'], { team: ['crates'] }, ['team']],
    ['other', ['team=crates'], { team: { crates: 1 } }, ['team']],
    ['other', ['team=null'], { team: null }, ['team']],
    ['kubernetes', ['/kubernetes.io/namespace=ci'], {}, []],
    [
      'kubernetes',
      ['/kubernetes.io/namespace=ci'],
      { 'kubernetes.io': { namespace: 'other' } },
      ['/kubernetes.io/namespace'],
    ],
    ['other', ['/a~1b/c~0d=x'], { 'a/b': { 'c~d': 'x' } }, []],
    // Names that every object has.
    ['other', ['__proto__=x'], JSON.parse('{"__proto__":"x"}'), []],
    ['other', ['__proto__=[object Object]'], {}, ['__proto__']],
    ['other', ['/__proto__/team=crates'], {}, ['/__proto__/team']],
    ['other', ['constructor=Object'], {}, ['constructor']],
    ['other', ['/constructor/name=Object'], {}, ['/constructor/name']],
    // Events.
    ['github', ['repository=acme/demo'], { event_name: 'pull_request' }, ['event_name']],
    ['github', ['repository=acme/demo'], { event_name: undefined }, ['event_name']],
    [
      'github',
      ['repository=acme/demo', 'event_name=issue_comment'],
      { event_name: 'issue_comment' },
      [],
    ],
    ['forgejo', ['repository=acme/demo'], { event_name: 'issues' }, ['event_name']],
    // A pointer of one key is the name that it leads to.
    ['github', ['repository=acme/demo', '/event_name=issues'], { event_name: 'issues' }, []],
    ['github', ['/repository=ACME/Demo', '/environment=Prod'], { environment: 'prod' }, []],
  ]
  for (const [kind, rule, more, claims] of rows) {
    const what = `${rule.join(' ')} ${JSON.stringify(more)}`
    assert.deepEqual(kept(kind, rule, more), claims, what)
  }
})

test('a pattern of many stars costs little', () => {
  const rule = ['repository=acme/demo', `ref=${'a*'.repeat(127)}b`]
  assert.deepEqual(kept('github', rule, { ref: 'a'.repeat(1000) }), ['ref'])
})

test('a name is pinned to its ids, so that whoever takes it later is somebody else', () => {
  const rule = { claims: parseClaims(RULES.github), pins: [] }
  const pins = pinsAfter('github', rule, JOBS.github)
  assert.deepEqual(pins, [
    ['repository', 'acme/demo', 'repository_owner_id', '123'],
    ['repository', 'acme/demo', 'repository_id', '456'],
  ])
  assert.deepEqual(kept('github', RULES.github, {}, pins), [])
  assert.deepEqual(kept('github', RULES.github, { repository_owner_id: '124' }, pins), [
    'repository_owner_id',
  ])
  assert.deepEqual(kept('github', RULES.github, { repository_id: undefined }, pins), [
    'repository_id',
  ])
  assert.deepEqual(pinsAfter('github', { ...rule, pins }, JOBS.github), pins)
  const given = { claims: parseClaims([...RULES.github, 'repository_id=456']), pins: [] }
  assert.equal(pinsAfter('github', given, JOBS.github).length, 1)
  assert.deepEqual(
    pinsAfter('gitlab', { claims: parseClaims(RULES.gitlab), pins: [] }, JOBS.gitlab).map(pin =>
      pin.slice(2),
    ),
    [
      ['namespace_id', '7'],
      ['project_id', '42'],
    ],
  )
})

test('a name that is written as a pointer is pinned, too', () => {
  const rule = { claims: parseClaims(['/repository=acme/demo']), pins: [] }
  const ids = pinsAfter('github', rule, JOBS.github).map(([, , id, value]) => `${id} ${value}`)
  assert.deepEqual(ids, ['repository_owner_id 123', 'repository_id 456'])
  const pinned = { ...rule, pins: pinsAfter('github', rule, JOBS.github) }
  const taken = { ...JOBS.github, repository_id: '9' }
  assert.deepEqual(
    differences('github', pinned, taken).map(({ claim }) => claim),
    ['repository_id'],
  )
})

test('the workflow is the file that was started, of the repository itself', () => {
  const rows: [IssuerKind, object, string | null][] = [
    ['github', {}, 'release.yml'],
    [
      'github',
      { workflow_ref: 'acme/demo/.github/workflows/a.yml@refs/heads/.github/workflows/b.yml@x' },
      'a.yml',
    ],
    [
      'github',
      { workflow_ref: 'acme/central/.github/workflows/release.yml@refs/heads/main' },
      null,
    ],
    ['github', { workflow_ref: 'acme/demo/.github/workflows/x/release.yml@refs/heads/main' }, null],
    ['github', { workflow_ref: 'acme/demo/release.yml@refs/heads/main' }, null],
    ['github', { workflow_ref: ['acme/demo/.github/workflows/release.yml@a'] }, null],
    ['forgejo', {}, 'release.yml'],
    ['gitlab', {}, '.gitlab-ci.yml'],
    ['gitlab', { ci_config_ref_uri: 'gitlab.com/acme/tools/demo//ci/x.yml@refs/heads/a@b' }, null],
    ['gitlab', { ci_config_ref_uri: 'none' }, null],
  ]
  for (const [kind, more, file] of rows)
    assert.equal(workflowOf(kind, { ...JOBS[kind], ...more }), file, JSON.stringify(more))
  const unfit = (kind: IssuerKind, more: object) => unfitFor(kind, { ...JOBS[kind], ...more })?.code
  for (const event of ['pull_request_target', 'workflow_run', ['workflow_run']])
    assert.equal(unfit('github', { event_name: event }), 'event_unsafe')
  assert.equal(unfit('gitlab', { pipeline_source: 'merge_request_event' }), 'event_unsafe')
  assert.equal(unfit('github', { workflow_ref: 'x' }), 'claim_unexpected')
  assert.equal(unfit('buildkite', { event_name: 'workflow_run' }), undefined)
})

test('a rule that would let strangers publish is refused when it is written', () => {
  const rows: [IssuerKind, boolean, string[], string[]][] = [
    ['github', true, ['repository=a/b', 'ref=x'], []],
    ['github', true, ['repository=a/b'], ['rule_any_ref']],
    ['github', true, ['workflow=ci.yml', 'ref=x'], ['rule_owner_missing']],
    ['github', true, ['sub=repo:a/b:ref:x', 'ref=x'], ['rule_owner_missing']],
    ['github', false, ['workflow=ci.yml', 'ref=x'], []],
    ['buildkite', true, ['pipeline_slug=demo', 'ref=x'], ['rule_owner_missing']],
    ['buildkite', true, ['organization_slug=a', 'ref=x'], []],
    ['other', true, ['team=a', 'ref=x'], ['rule_issuer_shared']],
    ['other', false, ['team=a', 'ref=x'], []],
    ['github', true, ['repository=a/*', 'ref=v*'], ['rule_claim_glob']],
    [
      'github',
      true,
      ['repository=a/b', 'ref=x', 'event_name=pull_request_target'],
      ['event_unsafe'],
    ],
    ['github', true, ['repository=a/b', 'ref=x', '/event_name=workflow_run'], ['event_unsafe']],
    ['github', true, ['/repository=a/b', '/ref=x'], []],
    ['github', true, ['repository=', 'ref=x'], ['rule_claim_value']],
    // Where no claim can be found: below what tokens are read to, and what is no pointer.
    ['other', false, ['/a/b/c/d/e/f=x', '/a~0b~1c=x', 'ref=x'], []],
    ['other', false, ['/a/b/c/d/e/f/g=x', 'ref=x'], ['rule_claim_name']],
    ['other', false, ['/a~2b=x', '/a~=x', 'ref=x'], ['rule_claim_name', 'rule_claim_name']],
    ['github', true, ['repository=a/b', 'ref=x', 'a b=c'], ['rule_claim_name']],
    ['github', true, [], ['rule_claims_none', 'rule_owner_missing', 'rule_any_ref']],
    [
      'github',
      true,
      ['repository=a/b', ...Array.from({ length: 60 }, (_, at) => `ref=r${at}`)],
      ['rule_values_many'],
    ],
    [
      'github',
      true,
      ['repository=a/b', 'ref=x', ...Array.from({ length: 20 }, (_, at) => `c${at}=1`)],
      ['rule_claims_many'],
    ],
  ]
  for (const [kind, isShared, claims, codes] of rows)
    assert.deepEqual(
      ruleIssues(kind, isShared, parseClaims(claims)).map(({ code }) => code),
      codes,
      claims.join(' '),
    )
})

test('a refusal has the sentence of crates.io, then the claim, and only rules of the same owner', () => {
  const rule = (id: number, claims: readonly string[], pins: readonly Pin[] = []) => ({
    id,
    claims: parseClaims(claims),
    pins,
  })
  const config = 'The Trusted Publishing config for repository `acme/demo`'
  const pins = pinsAfter('github', rule(1, RULES.github), JOBS.github)
  const rows: [IssuerKind, ReturnType<typeof rule>[], object, string][] = [
    ['github', [], {}, 'No Trusted Publishing config found for repository `acme/demo`.'],
    ['gitlab', [], {}, 'No Trusted Publishing config found for repository `acme/tools/demo`.'],
    ['buildkite', [], {}, `no rule for ${JOBS.buildkite.sub}`],
    ['other', [rule(1, ['team=x'])], {}, 'no rule for job-1'],
    [
      'github',
      [rule(1, ['repository=acme/secret', 'ref=x'])],
      {},
      'No Trusted Publishing config found for repository `acme/demo`.',
    ],
    [
      'github',
      [rule(1, RULES.github, pins)],
      { repository_owner_id: '9', workflow_ref: 'acme/demo/.github/workflows/x.yml@a' },
      `${config} does not match the repository owner ID (9) in the JWT. Expected owner IDs: 123. Please recreate the Trusted Publishing config to update the repository owner ID.: \`repository_owner_id\` was \`9\`, and rule 1 wants \`123\``,
    ],
    [
      'github',
      [
        rule(1, ['repository=acme/demo', 'workflow=a.yml']),
        rule(2, ['repository=acme/demo', 'workflow=b.yml']),
      ],
      {},
      `${config} does not match the workflow filename \`release.yml\` in the JWT. Expected workflow filenames: \`a.yml\`, \`b.yml\`: \`workflow\` was \`release.yml\`, and rule 1 wants \`a.yml\`, \`b.yml\``,
    ],
    [
      'github',
      [rule(3, ['repository=acme/demo', 'environment=release'])],
      {},
      `${config} requires an environment, but the JWT does not specify one. Expected environments: \`release\`: \`environment\` was absent, and rule 3 wants \`release\``,
    ],
    [
      'github',
      [rule(3, ['repository=acme/demo', 'environment=release'])],
      { environment: 'test' },
      `${config} does not match the environment \`test\` in the JWT. Expected environments: \`release\`: \`environment\` was \`test\`, and rule 3 wants \`release\``,
    ],
    [
      'github',
      [
        rule(4, ['repository=acme/demo', 'ref=refs/tags/v*']),
        rule(5, ['repository=acme/demo', 'workflow=x.yml']),
      ],
      {},
      `${config} does not match the claim \`ref\` in the JWT. Expected: \`refs/tags/v*\`: \`ref\` was \`refs/heads/main\`, and rule 4 wants \`refs/tags/v*\``,
    ],
    [
      'kubernetes',
      [rule(6, ['/kubernetes.io/namespace=ci', '/kubernetes.io/serviceaccount/name=other'])],
      {},
      'The Trusted Publishing config for namespace `ci` does not match the claim `/kubernetes.io/serviceaccount/name` in the JWT. Expected: `other`: `/kubernetes.io/serviceaccount/name` was `publisher`, and rule 6 wants `other`',
    ],
  ]
  for (const [kind, rules, more, text] of rows)
    assert.equal(refusalOf(kind, rules, { ...JOBS[kind], ...more }).message, text)
})

test('a name fits itself and its prefixes, the narrowest first', () => {
  const name = canonicalName(parseName('Acme-X'))
  assert.deepEqual(patternsOf(name), [
    'acme_x',
    'acme_x*',
    'acme_*',
    'acme*',
    'acm*',
    'ac*',
    'a*',
    '*',
  ])
  assert.equal(canonicalPattern('Acme-*'), 'acme_*')
  assert.equal(canonicalPattern('Acme-X'), 'acme_x')
  for (const text of ['', 'a b', '-a*', 'a**', '*a', '1a'])
    assert.equal(canonicalPattern(text), null, text)
})
