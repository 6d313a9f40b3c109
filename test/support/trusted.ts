import type { TestContext } from 'node:test'
import type { IssuerKind } from '../../core/settings/issuer.ts'
import { parseClaims } from '../../core/trust/rule.ts'
import { operatorChange } from '../../generator/records/change.ts'
import { addRule, type RuleOrder } from '../../generator/trust/rules-changes.ts'
import { MadeUpIssuer } from './made-up-issuer.ts'
import { TestRegistry, type TestRegistryOptions } from './registry.ts'
import { JOBS, RULES } from './trusted-jobs.ts'

const AT = '2026-11-20T12:00:00Z'

/** Where tokens are exchanged. */
export const TOKENS = '/api/v1/trusted_publishing/tokens'

type Order = Partial<Omit<RuleOrder, 'claims'>> & { readonly claims?: readonly string[] }

/** A registry with alice, and an issuer of one kind, after which its section is called. */
export async function trusting(
  t: TestContext,
  env: Record<string, string> = {},
  kind: IssuerKind = 'github',
  options: Omit<TestRegistryOptions, 'env'> = {},
) {
  const issuer = await MadeUpIssuer.start(t)
  const open = kind === 'other' ? { PLIMSOLL_ISSUER_OTHER_SHARED: 'false' } : {}
  const usual = { ...issuer.settings(kind, kind), ...open, PLIMSOLL_API_ERROR_STATUS: 'http' }
  const test = await TestRegistry.open(t, { env: { ...usual, ...env }, ...options })
  const alice = await test.user('alice')
  /** Writes a rule as the operator does, by default for `demo` and a job of the kind. */
  const rule = async ({ claims = RULES[kind], ...order }: Order = {}) => {
    const whole = { crate: 'demo', issuer: kind, owner: 'alice', ...order }
    const wanted = { ...whole, claims: parseClaims(claims) }
    return (await addRule(test.registry, wanted, operatorChange(AT))).rule
  }
  const exchange = async (jwt: string) => {
    const response = await test.request('POST', TOKENS, null, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jwt }),
    })
    const body = JSON.parse(await response.text())
    const detail: string | undefined = body.errors?.[0]?.detail
    return { status: response.status, token: String(body.token ?? ''), detail }
  }
  /** The token that a job gets, whose claims are those of its kind and these. */
  const job = async (more: Readonly<Record<string, unknown>> = {}) =>
    exchange(await issuer.sign({ ...JOBS[kind], ...more }))
  /** The status and objection of a publish. */
  const publish = async (token: string, name: string, version: string) => {
    const { status, body } = await test.publish(token, { name, version })
    return [status, body.errors?.[0]?.detail ?? null]
  }
  return { issuer, test, alice, rule, exchange, job, publish }
}
