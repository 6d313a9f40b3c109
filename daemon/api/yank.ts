import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { parseName } from '../../core/name.ts'
import { parseVersion } from '../../core/version.ts'
import { setYanked } from '../../generator/records/releases-changes.ts'
import { type Actor, changeBy, coversCrate } from '../access/auth.ts'
import type { Deps } from '../deps.ts'

/** `DELETE …/yank` and `PUT …/unyank` (specification section 3): changes only the yanked flag. */
export function yank(yanked: boolean) {
  return async (deps: Deps, c: Context, actor: Actor) => {
    const name = parseName(c.req.param('name') ?? '')
    const version = parseVersion(c.req.param('version') ?? '')
    if (!coversCrate(actor, name)) refuse('crate_not_covered', { name })
    const change = changeBy(actor, deps.registry)
    const { crateId } = await setYanked(deps.registry, name, version, yanked, change)
    await deps.indexWorker.crate(crateId)
    deps.git?.wake()
    return c.json({ ok: true })
  }
}
