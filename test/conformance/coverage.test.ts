import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { topics as statements } from '../../check/rows/all.ts'
import { none } from '../support/none.ts'
import { root } from '../support/plimsoll.ts'
import { daemonDriver, tlsDriver } from './driver-daemon.ts'
import { filesGitDriver, recordsDriver, staticDriver } from './driver-files.ts'
import { gitDriver } from './driver-git.ts'
import { canPlay } from './scenario.ts'
import { scenarios, subjects } from './scenarios.ts'

const drivers = [staticDriver, recordsDriver, filesGitDriver, daemonDriver, gitDriver, tlsDriver]

const FILE = join(root, 'docs', 'work', 'conformance.md')
const HEAD = `| No. | Scenario | File | Cargo | static | records | files as git | daemon | git | TLS |
|---|---|---|---|---|---|---|---|---|---|
`

/** A chapter of the document by its title. */
function chapter(title: string): string {
  const [, text = ''] = readFileSync(FILE, 'utf8').split(`## ${title}\n`)
  return text.split('\n## ')[0] ?? ''
}

test('docs/work/conformance.md lists every scenario with its drivers and its oldest client', () => {
  const rows = Object.entries(subjects).flatMap(([file, scenarios]) =>
    scenarios.map(scenario => {
      const marks = drivers.map(driver => (canPlay(driver, scenario) ? '✓' : '–'))
      const since = scenario.since ? `1.${scenario.since}` : '–'
      const cells = [scenario.numbers.join(', '), scenario.title, `\`${file}\``, since, ...marks]
      return `| ${cells.join(' | ')} |\n`
    }),
  )
  const before = chapter('Scenarios')
  const table = HEAD + rows.join('')
  if (process.env.UPDATE_GOLDEN !== undefined) {
    const text = readFileSync(FILE, 'utf8')
    writeFileSync(FILE, text.replace(before, before.replace(/^\|[\s\S]*/m, table)))
  }
  assert.ok(chapter('Scenarios').endsWith(`\n${table}`))
})

test('every number of the list is played, is a statement, or has a reason why not', () => {
  const numbersIn = (text: string) =>
    [...text.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, list = '']) => list.split(', '))
  const stated = chapter('What statements play')
  const named = (form: RegExp) => [...stated.matchAll(form)].map(([, name = '']) => name)
  const rowIds = Object.values(statements).flatMap(rows => rows.map(({ id }) => id))
  const ids = named(/`([a-z0-9]+-[a-z0-9-]+)`/g)
  const files = named(/`(test\/\S+)`/g)
  assert.ok(ids.length > 0 && files.length > 0)
  none(ids.filter(id => !rowIds.includes(id)))
  none(files.filter(file => !existsSync(join(root, file))))
  const played = scenarios.flatMap(({ numbers }) => numbers.map(String))
  const all = [...played, ...numbersIn(stated), ...numbersIn(chapter('What is not played here'))]
  const expected = Array.from({ length: 60 }, (_, at) => String(at + 1))
  none(expected.filter(number => !all.includes(number)))
})
