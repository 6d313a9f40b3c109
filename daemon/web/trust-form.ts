import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { parseClaims, shownClaims, textsOf } from '../../core/trust/rule.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { requireRule, type TrustRule } from '../../generator/trust/rules.ts'
import { addRule, dropRule, setOnly } from '../../generator/trust/rules-changes.ts'
import type { RuleRow } from '../../site/account/trust-page.ts'
import type { SessionRequest } from '../access/route.ts'
import { rowId } from '../http/paging.ts'
import { ask, redirectDone } from './notice.ts'

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
  const back = path.slice(1)
  const action = c.req.param('action')
  if (action === 'remove') {
    const id = c.req.query('id') ?? ''
    const rule = await requireRule(registry.database, rowId(id) ?? refuse('rule_unknown', { id }))
    return ask(c, registry, request, 'remove-rule', [id, rule.crate], { back, fields: { id } })
  }
  if (action !== 'only') return refuse('route_unknown')
  const [off, name] = [c.req.query('off') ?? '', crate ?? c.req.query('crate') ?? '']
  const about = off === '1' ? 'trusted-only-ended' : 'trusted-only'
  return ask(c, registry, request, about, [name], { back, fields: { crate: name, off } })
}

/** Does what a form on rules says, and shows its page again. */
export async function changeTrust(page: RulesPage): Promise<Response> {
  const { registry, c, request, path } = page
  const { form, change } = request
  const crate = page.crate ?? form.get('crate')?.trim() ?? ''
  const action = c.req.param('action')
  if (action === 'add') {
    const lines = (form.get('claims') ?? '').split(/\r?\n/).map(line => line.trim())
    const claims = parseClaims(lines.filter(line => line !== ''))
    const owner = form.get('owner')?.trim() || null
    const order = { crate, issuer: form.get('issuer') ?? '', claims, owner }
    const { rule, warnings } = await addRule(registry, order, change)
    const done = warnings.length > 0 ? 'rule-added-wide' : 'rule-added'
    return redirectDone(c, registry, path, done, String(rule.id), rule.crate)
  }
  if (action === 'remove') {
    const id = form.get('id') ?? ''
    const row = rowId(id) ?? refuse('rule_unknown', { id })
    const rule = await dropRule(registry.database, row, change)
    return redirectDone(c, registry, path, 'rule-removed', id, rule.crate)
  }
  if (action !== 'only') return refuse('route_unknown')
  const isOn = form.get('off') !== '1'
  await setOnly(registry.database, crate, isOn, change)
  return redirectDone(c, registry, path, isOn ? 'trusted-only' : 'trusted-only-ended', crate)
}

/** Returns rules as pages show them. */
export function ruleRows(rules: readonly TrustRule[]): RuleRow[] {
  return rules.map(rule => ({ ...rule, claims: textsOf(shownClaims(rule)) }))
}
