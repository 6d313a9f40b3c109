import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { parseClaims, shownClaims, textsOf } from '../../core/trust/rule.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { requireRule, type TrustRule } from '../../generator/trust/rules.ts'
import { addRule, dropRule, setOnly } from '../../generator/trust/rules-changes.ts'
import type { RuleRow } from '../../site/account/trust-page.ts'
import type { SessionRequest } from '../access/route.ts'
import { ask, type Deed, redirectDone } from './notice.ts'

/** A page with rules: of one crate, or of all. */
export interface RulesPage {
  readonly registry: Registry
  readonly c: Context
  readonly request: SessionRequest
  readonly path: string
  readonly crate?: string
}

/** Asks before a rule is removed, or versions come from CI only. */
export async function askTrust({ registry, c, request, path, crate }: RulesPage) {
  const { id = '', off = '', crate: named = '' } = c.req.query()
  const back = path.slice(1)
  if (c.req.param('action') === 'remove') {
    const rule = await requireRule(registry.database, id)
    // Rules of others are nobody's business.
    if (crate !== undefined && rule.crate !== crate) refuse('rule_unknown', { id })
    return ask(c, registry, request, 'remove-rule', [id, rule.crate], { back, fields: { id } })
  }
  if (c.req.param('action') !== 'only') return refuse('route_unknown')
  const fields = { crate: crate ?? named, off }
  const about = off === '1' ? 'trusted-only-ended' : 'trusted-only'
  return ask(c, registry, request, about, [fields.crate], { back, fields })
}

/** Does what a form on rules says, and shows its page again. */
export async function changeTrust(page: RulesPage): Promise<Response> {
  const { registry, c, request, path } = page
  const { form, change } = request
  const field = (name: string) => form.get(name)?.trim() ?? ''
  const done = (deed: Deed, ...names: readonly string[]) =>
    redirectDone(c, registry, path, deed, ...names)
  const crate = page.crate ?? field('crate')
  const action = c.req.param('action')
  if (action === 'add') {
    const lines = field('claims')
      .split('\n')
      .map(line => line.trim())
    const claims = parseClaims(lines.filter(line => line !== ''))
    const order = { crate, issuer: field('issuer'), claims, owner: field('owner') || null }
    const { rule, warnings } = await addRule(registry, order, change)
    return done(warnings.length > 0 ? 'rule-added-wide' : 'rule-added', `${rule.id}`, rule.crate)
  }
  if (action === 'remove') {
    const rule = await dropRule(registry.database, field('id'), change)
    return done('rule-removed', `${rule.id}`, rule.crate)
  }
  if (action !== 'only') return refuse('route_unknown')
  const isOn = field('off') !== '1'
  await setOnly(registry.database, crate, isOn, change)
  return done(isOn ? 'trusted-only' : 'trusted-only-ended', crate)
}

/** Returns rules as pages show them. */
export function ruleRows(rules: readonly TrustRule[]): RuleRow[] {
  return rules.map(rule => ({ ...rule, claims: textsOf(shownClaims(rule)) }))
}
