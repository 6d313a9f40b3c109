import type { Context } from 'hono'
import * as v from 'valibot'
import { refuse } from '../../core/error/error.ts'
import { jsonIn } from '../../core/plain-data.ts'
import {
  addOwners,
  inviteOwners,
  type OwnerChange,
  removeOwners,
} from '../../generator/accounts/ownership.ts'
import { type CrateRecord, findCrate } from '../../generator/records/crates.ts'
import { listOwners, requireOwner } from '../../generator/records/owners.ts'
import { listRules, ruleText } from '../../generator/trust/rules.ts'
import { type Actor, changeBy, coversCrate } from '../access/auth.ts'
import { crateOf } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { answer } from '../http/answer.ts'
import { readWhole } from '../http/request-body.ts'

/** Each login costs a query inside one write transaction. */
const MOST_LOGINS = 100
/** More bytes than this many logins can take. */
const MOST_BYTES = 64 * 1024

/** Cargo sends `users` (specification section 4); crates.io's own clients send `owners`. */
const ownerRequest = v.object({
  users: v.nullish(v.array(v.string())),
  owners: v.nullish(v.array(v.string())),
})

/** `GET …/owners`: `{users: [{id, login, name}]}`. */
export async function owners(deps: Deps, c: Context) {
  const crate = await crateOf(deps.registry, c, findCrate)
  return answer(c, { users: await listOwners(deps.registry.database, crate.id) })
}

/** `PUT …/owners`: adds or invites owners, depending on `owners.add`; `msg` says which. */
export async function putOwners(deps: Deps, c: Context, actor: Actor) {
  const { crate, logins, change } = await readRequest(deps, c, actor)
  const add = deps.registry.settings.owners.add === 'invite' ? inviteOwners : addOwners
  const done = await add(deps.registry, crate, logins, change)
  deps.indexWorker.pages.wake()
  const msg = messageOf(crate, done, `${deps.registry.urls.base}/me`)
  return c.json({ ok: true, msg })
}

/** `DELETE …/owners`: removes owners, except the last one. Cargo requires `msg` here too. */
export async function deleteOwners(deps: Deps, c: Context, actor: Actor) {
  const { crate, logins, change } = await readRequest(deps, c, actor)
  const { changed } = await removeOwners(deps.registry, crate, logins, change)
  deps.indexWorker.pages.wake()
  const rules = await listRules(deps.registry.database, { crateIds: [crate.id], writers: changed })
  const stay =
    rules.length === 0
      ? ''
      : `; rules by which jobs publish it stay: ${rules.map(ruleText).join(', ')}`
  const msg = `removed ${changed.join(', ')} from the owners of \`${crate.name}\`${stay}`
  return c.json({ ok: true, msg })
}

async function readRequest(deps: Deps, c: Context, actor: Actor) {
  const crate = await crateOf(deps.registry, c, findCrate)
  if (!coversCrate(actor, crate.name)) refuse('crate_not_covered', { name: crate.name })
  const change = changeBy(actor, deps.registry)
  await requireOwner(deps.registry.database, crate, change)
  const parsed = v.safeParse(ownerRequest, await readJson(c))
  const logins = parsed.success ? (parsed.output.users ?? parsed.output.owners ?? []) : []
  if (logins.length === 0) refuse('owners_none_named')
  if (logins.length > MOST_LOGINS) refuse('owners_too_many_named', { max: MOST_LOGINS })
  return { crate, logins, change }
}

async function readJson(c: Context): Promise<unknown> {
  const body = await readWhole(c.req.raw, MOST_BYTES)
  return body
    ? jsonIn(body.toString('utf8'))
    : refuse('owners_too_many_named', { max: MOST_LOGINS })
}

function messageOf({ name }: CrateRecord, done: OwnerChange, me: string): string {
  const own = (logins: readonly string[]) => `${logins.length === 1 ? 'owns' : 'own'} \`${name}\``
  const said = (logins: readonly string[], tell: (whom: string) => string) =>
    logins.length === 0 ? [] : [tell(logins.join(', '))]
  return [
    ...said(done.changed, whom => `${whom} now ${own(done.changed)}`),
    ...said(
      done.invited,
      whom => `invited ${whom} to own \`${name}\`; it can be accepted at ${me}`,
    ),
    ...said(done.unchanged, whom => `${whom} already ${own(done.unchanged)}`),
  ].join('; ')
}
