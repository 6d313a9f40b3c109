import { type Advisory, covers } from '../../../core/advisory/advisory.ts'
import type { Queries } from '../../database/statement.ts'
import { listIdentities } from '../releases.ts'
import { advisoriesOf, type Origin } from './read.ts'

/** Returns the advisories on an own crate that cover at least one of its versions. */
export async function advisoriesOn(
  db: Queries,
  { id, name }: { readonly id: number; readonly name: string },
  own: Origin,
): Promise<Advisory[]> {
  const about = await advisoriesOf(db, name, own)
  const versions = about.length === 0 ? [] : await listIdentities(db, id)
  return about.filter(advisory => versions.some(({ version }) => covers(advisory, version)))
}
