import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../support/plimsoll.ts'
import { catalogDriver } from './driver-catalog.ts'
import { daemonDriver } from './driver-daemon.ts'
import { gitDriver } from './driver-git.ts'
import { staticDriver } from './driver-static.ts'
import { canPlay } from './scenario.ts'
import { scenarios, subjects } from './scenarios.ts'

const drivers = [staticDriver, catalogDriver, daemonDriver, gitDriver]

test('docs/conformance.md lists every scenario with its drivers', () => {
  const rows = Object.entries(subjects).flatMap(([file, scenarios]) =>
    scenarios.map(one => {
      const [, number, title] = /^(\d+) (.*)$/s.exec(one.title) ?? []
      const marks = drivers.map(driver => (canPlay(driver, one) ? '✓' : '–'))
      return { number: Number(number), row: `| ${number} | ${title} | \`${file}\` | ${marks.join(' | ')} |` }
    }),
  )
  const expected = rows.sort((a, b) => a.number - b.number).map(({ row }) => row)
  const text = readFileSync(join(root, 'docs', 'conformance.md'), 'utf8')
  const listed = text.split('\n').filter(line => /^\| \d+ \| .* \| `[\w-]+\.ts` \|/.test(line))
  assert.deepEqual(listed, expected)
})

test('no two scenarios have one title', () => {
  const titles = scenarios.map(({ title }) => title)
  assert.deepEqual([...new Set(titles)], titles)
})
