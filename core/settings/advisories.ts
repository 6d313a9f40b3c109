import * as v from 'valibot'
import { isReason } from '../notes/notes.ts'
import { isAdvisoryId } from '../paths/tree.ts'
import { jsonIn } from '../plain-data.ts'
import { isPubtime } from '../timestamp.ts'
import { choice, file, list, row, text } from './kind.ts'

const ignoredTable = v.strictObject({
  id: v.pipe(v.string(), v.check(isAdvisoryId)),
  reason: v.pipe(v.string(), v.check(isReason)),
  until: v.pipe(
    v.string(),
    v.check(day => isPubtime(`${day}T00:00:00Z`)),
  ),
})

/** Returns an item of `advisories.ignore`, a table in JSON that holds until a day ends; else null. */
export function ignoredItem(item: string) {
  const result = v.safeParse(ignoredTable, jsonIn(item))
  return result.success ? result.output : null
}

const ignored = text(
  '{ id = "RUSTSEC-2021-0001", reason = "…", until = "2026-12-31" }',
  item => ignoredItem(item) !== null,
)

// biome-ignore format: a table has a line for each setting
export const advisoriesRows = {
  from: row(list(file), [], "RustSec's database or files of OSV, as folders, `.tar.gz` archives or files; `plimsoll advisories update` replaces what they gave."),
  warn_from: row(choice('low', 'medium', 'high', 'critical'), 'high', 'From which severity on a publish is warned of its dependencies; an advisory without a CVSS counts as high.'),
  ignore: row(list(ignored), [], 'Advisories of which no publish is warned until a day, which is the last one; everything else shows them.'),
}
