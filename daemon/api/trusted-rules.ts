import type { Context } from 'hono'
import * as v from 'valibot'
import { refuse } from '../../core/error/error.ts'
import { isName } from '../../core/name.ts'
import { timestamp } from '../../core/timestamp.ts'
import { shownClaims, type WantedClaims } from '../../core/trust/rule.ts'
import { findCrate } from '../../generator/records/crates.ts'
import { cratesOf, isOwner } from '../../generator/records/owners.ts'
import { findCard } from '../../generator/records/pages/cards.ts'
import {
  addRule,
  dropRule,
  listRules,
  requireRule,
  setOnly,
  type TrustRule,
} from '../../generator/trust/rules.ts'
import { type Actor, changeBy, coversCrate } from '../access/auth.ts'
import { crateOf } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { rowId } from '../http/paging.ts'
import { readJsonBody } from '../http/request-body.ts'
import { crateView } from './schema.ts'

/** The two providers whose rules crates.io knows; the sections of the settings are called so. */
export type Provider = 'github' | 'gitlab'

const path = (form: RegExp) => v.pipe(v.string(), v.maxLength(255), v.regex(form))
const place = {
  crate: v.string(),
  environment: v.optional(v.nullable(path(/^(?! )[^\p{Cc}'"`,;\\]+(?<! )$/u)), null),
}
const githubOrder = v.object({
  ...place,
  repository_owner: path(/^[a-zA-Z0-9][a-zA-Z0-9-]*$/),
  repository_name: path(/^[\w.-]+$/),
  workflow_filename: path(/^[^/]+\.ya?ml$/),
})
const gitlabOrder = v.object({
  ...place,
  namespace: path(/^[\w.-]+(?:\/[\w.-]+)*$/),
  project: path(/^[\w.-]+$/),
  workflow_filepath: path(/^[^/].*\.ya?ml$/),
})

const bodies = {
  github: v.pipe(
    v.object({ github_config: githubOrder }),
    v.transform(({ github_config: order }) => ({
      ...order,
      path: `${order.repository_owner}/${order.repository_name}`,
      workflow: order.workflow_filename,
    })),
  ),
  gitlab: v.pipe(
    v.object({ gitlab_config: gitlabOrder }),
    v.transform(({ gitlab_config: order }) => ({
      ...order,
      path: `${order.namespace}/${order.project}`,
      workflow: order.workflow_filepath,
    })),
  ),
}

const PATH = { github: 'repository', gitlab: 'project_path' } as const

const query = v.object({
  crate: v.optional(v.string()),
  user_id: v.optional(v.string()),
  per_page: v.optional(v.string()),
  seek: v.optional(v.string()),
})

const PAGE = 10
const PAGE_MAX = 100

/** `GET …/{github,gitlab}_configs?crate=NAME`, or `?user_id=ID` for one's own crates. */
export const configs =
  (provider: Provider) =>
  async ({ registry }: Deps, c: Context, actor: Actor) => {
    const { crate, user_id, per_page, seek } = v.parse(query, c.req.query())
    if ((crate === undefined) === (user_id === undefined)) refuse('configs_which')
    const crateIds =
      crate === undefined
        ? await idsOf(registry, actor, user_id)
        : [(await ownCrate(registry, actor, crate)).id]
    const limit = Math.min(rowId(per_page) ?? PAGE, PAGE_MAX)
    const filter = { crateIds, issuer: provider }
    const { database } = registry
    const found = await listRules(database, { ...filter, after: rowId(seek) ?? 0, limit })
    const total = (await listRules(database, filter)).length
    const next = new URL(c.req.url).searchParams
    next.set('seek', String(found.at(-1)?.id))
    const meta = { total, next_page: found.length === limit ? `?${next}` : null }
    const shown = found.flatMap(rule => configOf(provider, rule) ?? [])
    return c.json({ [`${provider}_configs`]: shown, meta }, 200, NO_STORE)
  }

const NO_STORE = { 'cache-control': 'no-store' }

/** `POST …/{github,gitlab}_configs`: writes a rule for a crate that is there. */
export const postConfig =
  (provider: Provider) =>
  async ({ registry }: Deps, c: Context, actor: Actor) => {
    const order = await readJsonBody(c, bodies[provider])
    const crate = await ownCrate(registry, actor, order.crate)
    const claims: WantedClaims = [
      [PATH[provider], [order.path]],
      ['workflow', [order.workflow]],
      ...(order.environment === null ? [] : [['environment', [order.environment]] as const]),
    ]
    const wanted = { crate: crate.name, issuer: provider, claims, owner: null }
    const { rule } = await addRule(registry, wanted, changeBy(actor, registry))
    return c.json({ [`${provider}_config`]: configOf(provider, rule) }, 200, NO_STORE)
  }

/** `DELETE …/{github,gitlab}_configs/{id}`. */
export const deleteConfig =
  (provider: Provider) =>
  async ({ registry }: Deps, c: Context, actor: Actor) => {
    const id = rowId(c.req.param('id')) ?? refuse('rule_unknown', { id: c.req.param('id') ?? '' })
    const rule = await requireRule(registry.database, id)
    if (rule.issuer !== provider || rule.crateId === null) refuse('rule_unknown', { id })
    await ownCrate(registry, actor, rule.crate)
    await dropRule(registry.database, id, changeBy(actor, registry))
    return c.body(null, 204)
  }

const patchBody = v.object({ crate: v.object({ trustpub_only: v.boolean() }) })

/** `PATCH /api/v1/crates/{name}`: whether its versions come from CI only. */
export async function patchCrate({ registry }: Deps, c: Context, actor: Actor) {
  const { crate } = await readJsonBody(c, patchBody)
  const { name } = await crateOf(registry, c, findCrate)
  await ownCrate(registry, actor, name)
  const change = changeBy(actor, registry)
  await setOnly(registry.database, name, crate.trustpub_only, change)
  return c.json({ crate: crateView(await crateOf(registry, c, findCard)) }, 200, NO_STORE)
}

/** Finds a crate; refuses who does not own it, and a token for others. */
async function ownCrate({ clock, database }: Deps['registry'], actor: Actor, name: string) {
  const crate = (isName(name) && (await findCrate(database, name))) || null
  if (!crate) return refuse('crate_unknown', { name })
  if (!coversCrate(actor, crate.name)) refuse('crate_not_covered', { name: crate.name })
  const at = timestamp(clock())
  const owns = actor.who === 'user' && (await isOwner(database, crate.id, actor.user.id, at))
  return owns ? crate : refuse('not_own_crate')
}

async function idsOf({ database }: Deps['registry'], actor: Actor, id: string | undefined) {
  if (actor.who !== 'user' || String(actor.user.id) !== id) return refuse('not_own_crate')
  const crates = await cratesOf(database, actor.user.id)
  return crates.filter(({ name }) => coversCrate(actor, name)).map(crate => crate.id)
}

/** Returns a rule in the shape of crates.io; null for one that crates.io could not have. */
function configOf(provider: Provider, rule: TrustRule) {
  const claims = new Map(shownClaims(rule))
  const one = (name: string) => claims.get(name)?.[0] ?? null
  const whole = one(PATH[provider])
  if (whole === null) return null
  const [owner, project] = [whole.replace(/\/[^/]*$/, ''), whole.replace(/^.*\//, '')]
  const { id, crate, created: created_at } = rule
  const rest = { id, crate, environment: one('environment'), created_at }
  const workflow = one('workflow') ?? ''
  return provider === 'github'
    ? {
        ...rest,
        repository_owner: owner,
        // Known from the first exchange on.
        repository_owner_id: Number(one('repository_owner_id') ?? 0),
        repository_name: project,
        workflow_filename: workflow,
      }
    : {
        ...rest,
        namespace: owner,
        namespace_id: one('namespace_id'),
        project,
        workflow_filepath: workflow,
      }
}
