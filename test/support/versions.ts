import { TABLE_KEYS } from '../../generator/database/copy.ts'
import { contracts, type Step, statements } from '../../generator/database/step.ts'
import { PLIMSOLL, type Program } from '../../generator/projections/context.ts'

/** The names of the steps that later versions add. */
export const EXPANDING = '998_test_expands'
export const CONTRACTING = '999_test_contracts'

/**
 * Expands everything that can be: a column in every table, a table, an index, and a mark of a kind
 * that this version does not know.
 */
const expanding: Step = statements([
  ...Object.keys(TABLE_KEYS).map(table => `ALTER TABLE ${table} ADD COLUMN later TEXT`),
  'CREATE TABLE later_rows (id INTEGER PRIMARY KEY AUTOINCREMENT, crate_id INTEGER NOT NULL REFERENCES crates(id))',
  'CREATE INDEX releases_later ON releases (later) WHERE later IS NOT NULL',
  "INSERT INTO marks (kind, subject, generation) VALUES ('later', 1, 0)",
])

/** The version after this one: it has expanded the schema, and renders other pages. */
export const NEWER: Program = {
  version: '7.0.0',
  steps: { ...PLIMSOLL.steps, [EXPANDING]: expanding },
  pageFormat: 'newer',
}

/** The version after that: it removes a part that only this version would miss. */
export const NEWEST: Program = {
  version: '8.0.0',
  steps: {
    ...NEWER.steps,
    [CONTRACTING]: contracts(EXPANDING, ['ALTER TABLE counts DROP COLUMN later']),
  },
  pageFormat: 'newer',
}
