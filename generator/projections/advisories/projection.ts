// generator/projections/advisories: Known holes as files. The list of projections has it; no other
// imports it.
import { renderAdvisoryIndex } from '../../../core/advisory/index-file.ts'
import { osvOf } from '../../../core/advisory/osv.ts'
import { isOwnPath } from '../../../core/paths/own.ts'
import {
  ADVISORIES_FOLDER,
  advisoriesPath,
  advisoryPath,
  type Output,
  output,
} from '../../../core/paths/tree.ts'
import { deleteGoneAdvisories } from '../../records/advisories/change.ts'
import { ADVISORY, listAdvisories, readAdvisory } from '../../records/advisories/read.ts'
import { SITE } from '../../records/marks.ts'
import type { PageContext } from '../context.ts'
import { bySubject, type Pages } from '../pages.ts'

/** An OSV file for each advisory, and the list of all; no list without any. */
export const advisories: Pages = {
  kind: ADVISORY,
  work: 'advisories',
  due: 'soon',
  onSettled: (tx, done) =>
    deleteGoneAdvisories(
      tx,
      done.map(({ subject }) => subject),
    ),
  ...bySubject(
    ADVISORY,
    `SELECT ${SITE} AS subject, 0 AS generation, '${advisoriesPath}' AS about
      UNION ALL SELECT id, 0, name FROM advisories`,
    outputs,
    async ({ database }, subject) => {
      const row = subject === SITE ? null : await readAdvisory(database, subject)
      return [row ? advisoryPath(row.name) : advisoriesPath]
    },
  ),
  leftover: { folders: [ADVISORIES_FOLDER], isOwn: isOwnPath },
}

async function outputs({ database, urls }: PageContext, subject: number): Promise<Output[]> {
  if (subject === SITE) {
    const advisories = await listAdvisories(database)
    const index = renderAdvisoryIndex({ registry: [...urls.own], advisories })
    return index === null ? [] : [output(advisoriesPath, index)]
  }
  const row = await readAdvisory(database, subject)
  const [first, ...rest] = row?.advisories ?? []
  const text = first && `${JSON.stringify(osvOf([first, ...rest]), null, 2)}\n`
  return first && text ? [output(advisoryPath(first.id), text)] : []
}
