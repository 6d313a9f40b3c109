import * as v from 'valibot'
import { parseDeprecated } from '../deprecation.ts'
import { collect } from '../error/error.ts'
import { isName } from '../name.ts'
import { jsonIn } from '../plain-data.ts'
import { isReason } from '../reason.ts'
import { isVersion } from '../version.ts'
import { hasScheme, text } from './kind.ts'

const reason = v.pipe(v.string(), v.check(isReason))

const yankedTable = v.strictObject({ version: v.string(), reason: v.nullish(reason, null) })

const deprecatedTable = v.strictObject({
  crate: v.pipe(v.string(), v.check(isDeprecated)),
  reason,
  use: v.nullish(v.pipe(v.string(), v.check(isSuccessor)), null),
})

/** Returns an item of `yanked`: NAME@VERSION, or a table in JSON; null for anything else. */
export function yankedItem(item: string) {
  const table = item.startsWith('{') ? jsonIn(item) : { version: item }
  const result = v.safeParse(yankedTable, table)
  const [name = '', version = '', more] = result.success ? result.output.version.split('@') : []
  return result.success && more === undefined && isName(name) && isVersion(version)
    ? result.output
    : null
}

/** Returns an item of `deprecated`, a table in JSON; null for anything else. */
export function deprecatedItem(item: string) {
  const result = v.safeParse(deprecatedTable, jsonIn(item))
  return result.success ? result.output : null
}

export const yanked = text(
  'NAME@VERSION, such as "rand@0.8.5", or { version = "rand@0.8.5", reason = "…" }',
  item => yankedItem(item) !== null,
)

export const deprecated = text(
  '{ crate = "NAME", reason = "…" }, also with "NAME@<2", and use = "OTHER" or an https address',
  item => deprecatedItem(item) !== null,
)

/** Returns whether something may be used instead: a crate by its name, or an https address. */
export function isSuccessor(use: string): boolean {
  return isName(use) || (hasScheme(use, 'https') && use.length <= 500)
}

function isDeprecated(spec: string): boolean {
  const parsed = collect([], () => parseDeprecated(spec))
  return parsed !== undefined && isName(parsed.name)
}
