import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { subjects as statements } from '../../generator/check/rows/all.ts'
import { root } from '../support/plimsoll.ts'
import { catalogDriver } from './driver-catalog.ts'
import { daemonDriver } from './driver-daemon.ts'
import { filesGitDriver } from './driver-files-git.ts'
import { gitDriver } from './driver-git.ts'
import { staticDriver } from './driver-static.ts'
import { tlsDriver } from './driver-tls.ts'
import { canPlay, playable } from './scenario.ts'
import { scenarios, subjects } from './scenarios.ts'

const drivers = [staticDriver, catalogDriver, filesGitDriver, daemonDriver, gitDriver, tlsDriver]

const text = readFileSync(join(root, 'docs', 'work', 'conformance.md'), 'utf8')

test('docs/work/conformance.md lists every scenario with its drivers and its oldest client', () => {
  const rows = Object.entries(subjects).flatMap(([file, scenarios]) =>
    scenarios.map(scenario => {
      const marks = drivers.map(driver => (canPlay(driver, scenario) ? '✓' : '–'))
      const since = scenario.since ? `1.${scenario.since}` : '–'
      return {
        ...scenario,
        row: `| ${scenario.number} | ${scenario.title} | \`${file}\` | ${since} | ${marks.join(' | ')} |`,
      }
    }),
  )
  const expected = rows.sort((a, b) => a.number - b.number).map(({ row }) => row)
  const listed = text.split('\n').filter(line => /^\| \d+ \| .* \| `[\w-]+\.ts` \|/.test(line))
  assert.deepEqual(listed, expected)
})

test('docs/work/conformance.md counts the scenarios that each client plays with each driver', () => {
  const rows = text.split('\n').filter(line => /^\| Cargo 1\.\d+\.\d+ /.test(line))
  assert.ok(rows.length >= 3)
  for (const row of rows) {
    const [, client = '', ...cells] = row.split('|').map(cell => cell.trim())
    const minor = Number(/^Cargo 1\.(\d+)/.exec(client)?.[1])
    const counts = drivers.map(driver => String(playable(driver, minor, scenarios).length || '–'))
    assert.deepEqual(cells.slice(0, drivers.length), counts, client)
  }
})

test('every scenario of the list is played, is a statement, or has a reason why not', () => {
  const chapter = (title: string) => text.slice(text.indexOf(`## ${title}`))
  const numbersIn = (part: string) =>
    [...part.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, list = '']) =>
      list.split(', ').map(Number),
    )
  const stated = chapter('What statements play').split('\n## ')[0] ?? ''
  const ids = [...stated.matchAll(/`([a-z]+-[a-z0-9-]+)`/g)].map(([, id]) => id)
  const known = Object.values(statements).flatMap(rows => rows.map(({ id }) => id))
  assert.ok(ids.length > 0)
  assert.deepEqual(
    ids.filter(id => !known.includes(id ?? '')),
    [],
  )
  const excused = numbersIn(chapter('What is not played'))
  const played = scenarios.map(scenario => scenario.number)
  const all = [...new Set([...played, ...numbersIn(stated), ...excused])].sort((a, b) => a - b)
  assert.deepEqual(
    all,
    Array.from({ length: 60 }, (_, at) => at + 1),
  )
})

test('no two scenarios have one title', () => {
  const titles = scenarios.map(({ title }) => title)
  assert.deepEqual([...new Set(titles)], titles)
})
