import { parseEntry } from '../../../core/entry/parse.ts'
import { renderEntry } from '../../../core/entry/render.ts'
import { refuse } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import type { Version } from '../../../core/version.ts'
import type { Database } from '../database/database.ts'
import { run } from '../database/statement.ts'
import { addEvent, type Change } from './change.ts'
import { relist } from './listing.ts'
import { touchCrate } from './marks.ts'
import { listVersions } from './releases.ts'
import { readTarget } from './target.ts'

/**
 * Yanks or unyanks a release; `changed` says whether that made a difference. Refuses unknown
 * releases and those who may not change the crate.
 */
export async function setYanked(
  database: Database,
  name: Name,
  version: Version,
  yanked: boolean,
  change: Change,
): Promise<{ crateId: number; changed: boolean }> {
  return database.transaction().execute(async tx => {
    const { crate, mayChange, taken } = await readTarget(tx, { name, version }, change)
    if (!crate) return refuse('crate_unknown', { name })
    if (!mayChange) refuse('not_owner', { name: crate.name, login: change.actor })
    if (!taken) return refuse('release_unknown', { name: crate.name, version })
    if (taken.version !== version)
      refuse('release_other_build', { name: crate.name, version, existing: taken.version })
    if (taken.yanked === yanked) return { crateId: crate.id, changed: false }
    const line = renderEntry({ ...parseEntry(taken.line), yanked })
    const text = 'UPDATE releases SET yanked = ?, line = ? WHERE id = ?'
    await run(tx, text, Number(yanked), line, taken.id)
    const generation = await addEvent(tx, change, {
      action: yanked ? 'yank' : 'unyank',
      crate: crate.name,
      version: taken.version,
    })
    const marks = await relist(tx, crate, await listVersions(tx, crate.id))
    await touchCrate(tx, crate, [{ kind: 'release', subject: taken.id }, ...marks], generation)
    return { crateId: crate.id, changed: true }
  })
}
