import { refuse } from '../../core/error/error.ts'
import { canonicalPattern } from '../../core/name.ts'
import { parseClaims, shownClaims, textsOf } from '../../core/trust/rule.ts'
import { requireRule, type TrustRule } from '../../generator/trust/rules.ts'
import { addRule, dropRule, setOnly } from '../../generator/trust/rules-changes.ts'
import type { RuleRow } from '../../site/account/trust-page.ts'
import type { Action, Task } from './notice.ts'

/** A page with rules: of one crate, or of all. */
interface RulesPage {
  readonly path: string
  readonly crate?: string
}

/** Changes which jobs publish; where the page is of all rules, the form names a crate. */
export function trustAction<T extends Task>(pageOf: (task: T) => RulesPage): Action<T> {
  return {
    async ask(task) {
      const { registry, c } = task
      const { path, crate } = pageOf(task)
      const { id = '', off = '', crate: named = '' } = c.req.query()
      const back = path.slice(1)
      if (c.req.param('action') === 'remove') {
        const rule = await requireRule(registry.database, id)
        // Rules of others are nobody's business.
        if (crate !== undefined && rule.pattern !== canonicalPattern(crate))
          refuse('rule_unknown', { id })
        return { about: 'remove-rule', names: [id, rule.crate], back, fields: { id } }
      }
      if (c.req.param('action') !== 'only') return refuse('route_unknown')
      const fields = { crate: crate ?? named, off }
      const about = off === '1' ? 'trusted-only-ended' : 'trusted-only'
      return { about, names: [fields.crate], back, fields }
    },
    async act(task) {
      const { registry, c } = task
      const { form, change } = task.request
      const field = (name: string) => form.get(name)?.trim() ?? ''
      const { path, crate = field('crate') } = pageOf(task)
      const action = c.req.param('action')
      if (action === 'add') {
        const lines = field('claims').split('\n')
        const claims = parseClaims(lines.map(line => line.trim()).filter(line => line !== ''))
        const order = { crate, issuer: field('issuer'), claims, owner: field('owner') || null }
        const { rule, warnings } = await addRule(registry, order, change)
        const deed = warnings.length > 0 ? 'rule-added-wide' : 'rule-added'
        return [path, deed, `${rule.id}`, rule.crate]
      }
      if (action === 'remove') {
        const rule = await dropRule(registry.database, field('id'), change)
        return [path, 'rule-removed', `${rule.id}`, rule.crate]
      }
      if (action !== 'only') return refuse('route_unknown')
      const isOn = field('off') !== '1'
      await setOnly(registry.database, crate, isOn, change)
      return [path, isOn ? 'trusted-only' : 'trusted-only-ended', crate]
    },
  }
}

/** Returns rules as pages show them. */
export function ruleRows(rules: readonly TrustRule[]): RuleRow[] {
  return rules.map(rule => ({ ...rule, claims: textsOf(shownClaims(rule)) }))
}
