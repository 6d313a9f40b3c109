import { refuse } from '../../../core/error/error.ts'
import { isName } from '../../../core/name.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { isOwner } from '../../../generator/records/owners.ts'
import { type Actor, coversCrate } from '../../access/auth.ts'
import type { Deps } from '../../deps.ts'

/** Finds a crate; refuses who does not own it, and a token for others. */
export async function ownCrate({ database }: Deps['registry'], actor: Actor, name: string) {
  const crate = (isName(name) && (await findCrate(database, name))) || null
  if (!crate) return refuse('crate_unknown', { name })
  if (!coversCrate(actor, crate.name)) refuse('crate_not_covered', { name: crate.name })
  const owns = actor.who === 'user' && (await isOwner(database, crate.id, actor.user.id))
  return owns ? crate : refuse('not_own_crate')
}
