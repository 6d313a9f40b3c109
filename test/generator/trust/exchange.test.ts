import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseClaims } from '../../../core/trust/rule.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { addRule, type RuleOrder } from '../../../generator/trust/rules.ts'
import { MadeUpIssuer } from '../../support/made-up-issuer.ts'
import { TestRegistry } from '../../support/registry.ts'
import { JOBS, RULES } from '../../support/trusted-jobs.ts'

const AT = '2026-11-20T12:00:00Z'

/** A registry, and an issuer of the kind that its section is called. */
async function prepared(t: TestContext, env: Record<string, string> = {}) {
  const issuer = await MadeUpIssuer.start(t)
  const test = await TestRegistry.open(t, {
    env: { ...issuer.settings('github', 'github'), PLIMSOLL_API_ERROR_STATUS: 'http', ...env },
  })
  const alice = await test.user('alice')
  const rule = (order: Partial<Omit<RuleOrder, 'claims'>> & { claims?: readonly string[] }) => {
    const { claims = RULES.github, ...rest } = order
    const usual = { crate: 'demo', issuer: 'github', owner: 'alice' }
    return addRule(
      test.registry,
      { ...usual, ...rest, claims: parseClaims(claims) },
      operatorChange(AT),
    )
  }
  const exchange = async (jwt: string) => {
    const response = await test.request('POST', '/api/v1/trusted_publishing/tokens', null, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jwt }),
    })
    const body = JSON.parse(await response.text())
    return { status: response.status, token: body.token, detail: body.errors?.[0]?.detail }
  }
  return { issuer, test, alice, rule, exchange }
}

test('a job publishes a new crate and a new version without a stored token', async t => {
  const { issuer, test, rule, exchange } = await prepared(t)
  await rule({})
  const { token, status, detail } = await exchange(await issuer.sign(JOBS.github))
  assert.deepEqual([status, detail], [200, undefined])
  assert.match(token, /^plim_tp_[0-9A-Za-z]{38}$/)
  for (const version of ['1.0.0', '1.0.1']) {
    const answer = await test.publish(token, { name: 'demo', version })
    assert.deepEqual([answer.status, answer.body.errors], [200, undefined])
  }
})
