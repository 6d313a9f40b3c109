import { refuse } from '../../core/error/error.ts'
import { parseClaims, shownClaims, textsOf } from '../../core/trust/rule.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { addRule, dropRule, setOnly, type TrustRule } from '../../generator/trust/rules.ts'
import type { RuleRow } from '../../site/account/trust-page.ts'
import type { SessionRequest } from '../access/route.ts'
import { rowId } from '../http/paging.ts'
import type { Deed } from './notice.ts'

/** Does what a form on rules asks for; `crate` is that of the page, or else of the form. */
export async function changeTrust(
  registry: Registry,
  { form, change }: SessionRequest,
  action: string | undefined,
  crate = form.get('crate')?.trim() ?? '',
): Promise<Deed> {
  if (action === 'add') {
    const lines = (form.get('claims') ?? '').split(/\r?\n/).map(line => line.trim())
    const claims = parseClaims(lines.filter(line => line !== ''))
    const owner = form.get('owner')?.trim() || null
    const order = { crate, issuer: form.get('issuer') ?? '', claims, owner }
    const { warnings } = await addRule(registry, order, change)
    return warnings.length > 0 ? 'rule-added-wide' : 'rule-added'
  }
  if (action === 'remove') {
    const id = form.get('id') ?? ''
    await dropRule(registry.database, rowId(id) ?? refuse('rule_unknown', { id }), change)
    return 'rule-removed'
  }
  if (action !== 'only') return refuse('route_unknown')
  const isOn = form.get('off') !== '1'
  await setOnly(registry.database, crate, isOn, change)
  return isOn ? 'trusted-only' : 'trusted-only-ended'
}

/** Returns rules as pages show them. */
export function ruleRows(rules: readonly TrustRule[]): RuleRow[] {
  return rules.map(rule => ({ ...rule, claims: textsOf(shownClaims(rule)) }))
}
