import { timestamp } from '../../../core/timestamp.ts'
import { all, type Queries, type Row } from '../../database/statement.ts'
import { RELEASE_FACTS } from '../releases-view.ts'
import { readJsonValue, writeValue } from '../values.ts'

/** Why the README of a release is shown as plain text: as a clause, and more for the operator. */
export interface PageFailure {
  readonly because: string
  readonly detail: string | null
}

type PlainPage = PageFailure & {
  readonly what: 'readme'
  readonly at: string
} & Pick<Row<'crates'>, 'name'> &
  Pick<Row<'releases'>, 'version'>

/** The prefix of the keys, which end with the id of the release. */
const PLAIN = 'plain:'

/** Returns the recorded failure of a release; null when there is none for this page format. */
export async function readFailure(
  db: Queries,
  releaseId: number,
  format: string,
): Promise<PageFailure | null> {
  type Failure = PageFailure & { readonly format: string }
  const failure = await readJsonValue<Failure>(db, `${PLAIN}${releaseId}`)
  return failure?.format === format ? failure : null
}

/** Records that a README failed, so that it is not tried again. */
export async function writeFailure(
  db: Queries,
  releaseId: number,
  format: string,
  { because, detail }: PageFailure,
): Promise<void> {
  const failure = { because, detail, at: timestamp(new Date()), format }
  await writeValue(db, `${PLAIN}${releaseId}`, JSON.stringify(failure))
}

/** Lists at most `limit` READMEs shown as plain text, newest first. */
export async function listPlainPages(db: Queries, limit: number): Promise<PlainPage[]> {
  type Failed = Pick<PlainPage, 'name' | 'version'> & Pick<Row<'facts'>, 'value'>
  const rows = await all<Failed>(db, RELEASE_FACTS, PLAIN.length + 1, PLAIN, `${PLAIN}~`)
  const pages = rows.map(({ name, version, value }): PlainPage => {
    const { because, detail, at } = JSON.parse(value)
    return { name, version, what: 'readme', because, detail, at }
  })
  return pages.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, limit)
}
