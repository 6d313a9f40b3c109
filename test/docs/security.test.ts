// Mirrors docs/run/security.md
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { settingTable } from '../../core/settings/schema.ts'
import { none } from '../support/none.ts'
import { root } from '../support/plimsoll.ts'

const page = (name: string) => readFileSync(join(root, 'docs', 'run', name), 'utf8')
const security = page('security.md')
const limits = page('limits.md')

/** The numbers of a document and of the code, in bytes or as they stand. */
const UNITS = new Map([
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
])

test('every file that security.md and limits.md name exists', () => {
  const named = [
    ...`${security}${limits}`.matchAll(/`((?:core|check|daemon|generator|site|test)\/[\w./-]+)`/g),
  ]
  assert.ok(named.length > 60)
  none(named.map(([, path = '']) => path).filter(path => !existsSync(join(root, path))))
})

test('every limit of docs/run/limits.md is that of the code', () => {
  const rows = [
    ...limits.matchAll(/^\| .* \| ([\d,]+)(?: (\w+))? \| `([^`]+)`(?: `([^`]+)`)? \| .*$/gm),
  ]
  assert.ok(rows.length > 40)
  for (const [row, number = '', unit = '', place = '', constant] of rows) {
    const limit = Number(number.replaceAll(',', '')) * (UNITS.get(unit) ?? 1)
    assert.equal(
      limit,
      constant ? constantOf(place, constant) : settingTable.get(place)?.row.private,
      row,
    )
  }
})

/** The value of a constant, or of a key of one: a product of numbers. */
function constantOf(file: string, name: string): number {
  const [constant = '', key] = name.split('.')
  const source = readFileSync(join(root, file), 'utf8')
  const [, value = ''] =
    new RegExp(`const ${constant}\\b[^=\\n]* = (\\{[^}]*\\}|.*)`).exec(source) ?? []
  const product = key ? new RegExp(`\\b${key}: ([^,}\\n]*)`).exec(value)?.[1] : value
  const factors = (product ?? '').replaceAll('_', '').replace('1024 ** 2', '1024 * 1024').split('*')
  return factors.reduce((all, factor) => all * Number(factor), 1)
}
