import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './plimsoll.ts'

const DOCUMENT = join(root, 'docs', 'run', 'access.md')

/**
 * Checks that docs/run/access.md prints this table between the marks of `name`; with UPDATE_GOLDEN in
 * the environment, writes it there.
 */
export function assertPrinted(name: string, rows: readonly (readonly string[])[]): void {
  const [head = [], ...body] = rows
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const table = [head, head.map(() => '---'), ...body].map(line).join('')
  const text = readFileSync(DOCUMENT, 'utf8')
  const [begin, end] = [`<!-- table ${name} -->\n\n`, `\n<!-- end of ${name} -->`]
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
  assert.ok(from >= begin.length && to >= from, `docs/run/access.md has no place for ${name}`)
  if (process.env.UPDATE_GOLDEN !== undefined) {
    writeFileSync(DOCUMENT, `${text.slice(0, from)}${table}${text.slice(to)}`)
    return
  }
  const advice = 'docs/run/access.md is outdated: run this test with UPDATE_GOLDEN=1'
  assert.equal(text.slice(from, to), table, advice)
}
