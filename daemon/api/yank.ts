import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { parseName } from '../../core/name.ts'
import { parseVersion } from '../../core/version.ts'
import { setYanked, type YankChange } from '../../generator/records/releases-changes.ts'
import { setDeprecated } from '../../generator/registry/changes/deprecation.ts'
import { type Actor, changeBy, coversCrate } from '../access/auth.ts'
import type { Deps } from '../deps.ts'
import { readJsonBody } from '../http/request-body.ts'
import { deprecationBody, yankBody } from './yank-schema.ts'

/** `DELETE …/yank` and `PUT …/unyank` (specification section 3): changes only the yanked flag. */
export function yank(yanked: boolean) {
  return async (deps: Deps, c: Context, actor: Actor) => {
    await changeYank(deps, c, actor, { yanked })
    return c.json({ ok: true })
  }
}

async function changeYank(deps: Deps, c: Context, actor: Actor, to: YankChange): Promise<void> {
  const name = parseName(c.req.param('name') ?? '')
  const version = parseVersion(c.req.param('version') ?? '')
  if (!coversCrate(actor, name)) refuse('crate_not_covered', { name })
  const change = changeBy(actor, deps.registry)
  const { crateId } = await setYanked(deps.registry, name, version, to, change)
  await deps.indexWorker.crate(crateId)
  deps.git?.wake()
}

/** `PATCH …/{name}/{version}` of crates.io: yanks and unyanks, and says why; `show` answers. */
export const patchVersion =
  (show: (deps: Deps, c: Context) => Promise<Response>) =>
  async (deps: Deps, c: Context, actor: Actor) => {
    const { version: to } = await readJsonBody(c, yankBody)
    // As on crates.io, a yank without a message removes the one before.
    const reason = to.yank_message ?? (to.yanked ? null : undefined)
    await changeYank(deps, c, actor, { yanked: to.yanked ?? undefined, reason })
    return show(deps, c)
  }

/** `PUT …/{name}/deprecation`: says that a crate, or some of its versions, are deprecated. */
export async function putDeprecation(deps: Deps, c: Context, actor: Actor) {
  const { requirement, reason, use = null } = await readJsonBody(c, deprecationBody)
  return deprecate(deps, c, actor, requirement, { reason, use })
}

/** `DELETE …/{name}/deprecation?requirement=…`: takes that back. */
export function deleteDeprecation(deps: Deps, c: Context, actor: Actor) {
  return deprecate(deps, c, actor, c.req.query('requirement') ?? '*', null)
}

async function deprecate(
  { registry, indexWorker }: Deps,
  c: Context,
  actor: Actor,
  requirement: string,
  said: Parameters<typeof setDeprecated>[2],
) {
  const name = parseName(c.req.param('name') ?? '')
  if (!coversCrate(actor, name)) refuse('crate_not_covered', { name })
  await setDeprecated(registry, `${name}@${requirement}`, said, changeBy(actor, registry))
  indexWorker.pages.wake()
  return c.json({ ok: true })
}
