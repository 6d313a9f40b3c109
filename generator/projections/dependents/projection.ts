// generator/projections/dependents: Which versions require each crate. The list of projections has
// it; core/impact reads its files, never this room.
import { SHARDS } from '../../../core/impact/dependents.ts'
import { DEPENDENTS_FOLDER } from '../../../core/paths/dependents.ts'
import { isOwnPath } from '../../../core/paths/own.ts'
import { run, value } from '../../database/statement.ts'
import { markSelected, marksOf } from '../../records/marks.ts'
import type { Pages } from '../pages.ts'
import { FILES, renderDependents, requiredCrates, writeFile } from './files.ts'
import { changeRequirements } from './requirements.ts'

/** What requires each crate: first the rows of crates that have changed, then files of these. */
export const dependents: Pages = {
  kind: 'dependents',
  work: 'lists of what requires crates',
  of: 'crate',
  due: 'soon',
  async changed(_, { crate, added, removed }) {
    const requires = added.some(({ deps }) => deps !== '[]')
    return marksOf('dependents', requires || removed.length > 0 ? [crate.id] : [])
  },
  async render(context, mark) {
    if (mark.subject >= FILES) await writeFile(context, mark)
    else await context.database.transaction(tx => changeRequirements(tx, mark.subject))
    return { done: [mark] }
  },
  async markAll(tx) {
    await run(tx, 'DELETE FROM requirements')
    await markSelected(tx, 'dependents', 'SELECT id AS subject, generation FROM crates')
  },
  async *parts(context) {
    const { database } = context
    // A file is pending, too, as long as crates are marked, whose files nobody knows.
    const sql = `SELECT 1 FROM marks WHERE kind = 'dependents'
      AND (subject < ${FILES} OR subject BETWEEN ? AND ?) LIMIT 1`
    for await (const { crate, first } of requiredCrates(database)) {
      const marks = [FILES + first, FILES + first + SHARDS]
      yield {
        about: crate,
        pending: async () => (await value(database, sql, ...marks)) !== null,
        render: () => renderDependents(context, crate),
      }
    }
  },
  leftover: { folders: [DEPENDENTS_FOLDER], isOwn: isOwnPath },
}
