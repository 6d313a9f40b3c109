import type { Context } from 'hono'
import * as v from 'valibot'
import { refuse } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { parseClaims, shownClaims } from '../../core/trust/rule.ts'
import { isToken } from '../../generator/accounts/tokens.ts'
import { requireCrate } from '../../generator/records/crates.ts'
import { cratesOf, isOwner } from '../../generator/records/owners.ts'
import { findCard } from '../../generator/records/pages/cards.ts'
import { exchange, revoke } from '../../generator/trust/exchange.ts'
import { listRules, requireRule, type TrustRule } from '../../generator/trust/rules.ts'
import { addRule, dropRule, setOnly } from '../../generator/trust/rules-changes.ts'
import { type Actor, changeBy, coversCrate } from '../access/auth.ts'
import { crateOf, strangerChange } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { addressOf } from '../http/client-address.ts'
import { rowId } from '../http/paging.ts'
import { readJsonBody } from '../http/request-body.ts'
import { crateView } from './schema.ts'
import {
  type ConfigBody,
  configBodies,
  configQuery,
  exchangeBody,
  FIELDS,
  type Provider,
  patchBody,
} from './trusted-schema.ts'

const NO_STORE = { 'cache-control': 'no-store' }

/** `POST /api/v1/trusted_publishing/tokens`: a token of this registry for that of a CI system. */
export async function exchangeToken({ registry, issuers }: Deps, c: Context) {
  if (registry.urls.api === null) refuse('api_off')
  const { jwt } = await readJsonBody(c, exchangeBody)
  const token = await exchange(registry.database, issuers, jwt, senderOf(registry, c))
  return c.json({ token }, 200, NO_STORE)
}

/** `DELETE /api/v1/trusted_publishing/tokens`: ends the token of the job; 204 also if it is none. */
export async function revokeToken({ registry }: Deps, c: Context) {
  const header = c.req.header('authorization') ?? refuse('authorization_missing')
  if (/[^\t\x20-\x7e]/.test(header)) refuse('authorization_text')
  const text = header.trim()
  const at = text.indexOf(' ')
  const [scheme, token] = at < 0 ? ['bearer', text] : [text.slice(0, at), text.slice(at).trim()]
  if (scheme.toLowerCase() !== 'bearer') refuse('authorization_scheme', { scheme })
  if (!isToken(token, 'plim_tp_')) refuse('authorization_unparsed')
  await revoke(registry.database, token, senderOf(registry, c))
  return c.body(null, 204)
}

function senderOf({ settings, clock }: Deps['registry'], c: Context) {
  return strangerChange({ address: addressOf(settings.server)(c), now: clock() })
}

const PAGE = 10
const PAGE_MAX = 100

/** `GET …/{github,gitlab}_configs?crate=NAME`, or `?user_id=ID` for one's own crates. */
export const configs =
  (provider: Provider) =>
  async ({ registry }: Deps, c: Context, actor: Actor) => {
    const { crate, user_id, per_page, seek } = v.parse(configQuery, c.req.query())
    if ((crate === undefined) === (user_id === undefined)) refuse('configs_which')
    const crateIds =
      crate === undefined
        ? await idsOf(registry, actor, user_id)
        : [(await ownCrate(registry, actor, crate)).id]
    const limit = Math.min(rowId(per_page) ?? PAGE, PAGE_MAX)
    const rules = await listRules(registry.database, { crateIds, issuer: provider })
    const page = rules.filter(({ id }) => id > (rowId(seek) ?? 0)).slice(0, limit)
    const next = new URL(c.req.url).searchParams
    next.set('seek', String(page.at(-1)?.id))
    const meta = { total: rules.length, next_page: page.length === limit ? `?${next}` : null }
    const shown = page.flatMap(rule => configOf(provider, rule) ?? [])
    return c.json({ [`${provider}_configs`]: shown, meta }, 200, NO_STORE)
  }

/** `POST …/{github,gitlab}_configs`: writes a rule for a crate that is there. */
export const postConfig =
  (provider: Provider) =>
  async ({ registry }: Deps, c: Context, actor: Actor) => {
    const body: ConfigBody = await readJsonBody(c, configBodies[provider])
    const order = body[`${provider}_config`] ?? {}
    const { claim, owner, name, file } = FIELDS[provider]
    const crate = await ownCrate(registry, actor, order.crate ?? '')
    const texts = [`${claim}=${order[owner]}/${order[name]}`, `workflow=${order[file]}`]
    if (order.environment) texts.push(`environment=${order.environment}`)
    const wanted = { crate: crate.name, issuer: provider, claims: parseClaims(texts), owner: null }
    const { rule } = await addRule(registry, wanted, changeBy(actor, registry))
    return c.json({ [`${provider}_config`]: configOf(provider, rule) }, 200, NO_STORE)
  }

/** `DELETE …/{github,gitlab}_configs/{id}`. */
export const deleteConfig =
  (provider: Provider) =>
  async ({ registry }: Deps, c: Context, actor: Actor) => {
    const { id, ...rule } = await requireRule(registry.database, c.req.param('id') ?? '')
    if (rule.issuer !== provider || rule.crateId === null) refuse('rule_unknown', { id })
    await ownCrate(registry, actor, rule.crate)
    await dropRule(registry.database, id, changeBy(actor, registry))
    return c.body(null, 204)
  }

async function idsOf({ database }: Deps['registry'], actor: Actor, id: string | undefined) {
  if (actor.who !== 'user' || String(actor.user.id) !== id) return refuse('not_own_crate')
  const crates = await cratesOf(database, actor.user.id)
  return crates.filter(({ name }) => coversCrate(actor, name)).map(crate => crate.id)
}

/** Returns a rule in the shape of crates.io; null for one that crates.io could not have. */
function configOf(provider: Provider, rule: TrustRule) {
  const { claim, owner, name, file } = FIELDS[provider]
  const claims = new Map(shownClaims(rule))
  const one = (claim: string) => claims.get(claim)?.[0] ?? null
  const [, space, repository] = /^(.*)\/(.*)$/s.exec(one(claim) ?? '') ?? []
  if (space === undefined) return null
  const { id, crate, created: created_at } = rule
  const owner_id = one(`${owner}_id`)
  return {
    ...{ id, crate, environment: one('environment'), created_at, [owner]: space },
    // Known from the first exchange on; GitHub's is a number then.
    [`${owner}_id`]: provider === 'github' && owner_id !== null ? Number(owner_id) : owner_id,
    [name]: repository,
    [file]: one('workflow') ?? '',
  }
}

/** `PATCH /api/v1/crates/{name}`: whether its versions come from CI only. */
export async function patchCrate({ registry }: Deps, c: Context, actor: Actor) {
  const { crate } = await readJsonBody(c, patchBody)
  const { name } = await ownCrate(registry, actor, c.req.param('name') ?? '')
  const change = changeBy(actor, registry)
  await setOnly(registry.database, name, crate.trustpub_only, change)
  const card = await crateOf(registry, c, findCard)
  return c.json({ crate: crateView(card) }, 200, NO_STORE)
}

/** Finds a crate; refuses who does not own it, and a token for others. */
async function ownCrate({ clock, database }: Deps['registry'], actor: Actor, name: string) {
  const crate = await requireCrate(database, name)
  if (!coversCrate(actor, crate.name)) refuse('crate_not_covered', { name: crate.name })
  const at = timestamp(clock())
  const owns = actor.who === 'user' && (await isOwner(database, crate.id, actor.user.id, at))
  return owns ? crate : refuse('not_own_crate')
}
