import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PlotData, plot, plotSvg } from '../../../site/elements/plot.ts'

const DAY = 24 * 60 * 60 * 1000

function data(values: readonly number[], isTotal = false): PlotData {
  const start = Date.UTC(2026, 0, 5)
  const at = (index: number) => new Date(start + index * 7 * DAY).toISOString().slice(0, 10)
  const points = values.map((value, index) => ({ at: at(index), value }))
  return { title: 'Releases & more', isTotal, every: 'week', points }
}

/** The labels of the vertical axis. */
function ticks(svg: string): string[] {
  return [...svg.matchAll(/text-anchor="end">([^<]*)</g)].map(match => match[1] ?? '')
}

const scales: [most: number, labels: string[]][] = [
  [0, ['0', '1']],
  [1, ['0', '1']],
  [4, ['0', '1', '2', '3', '4']],
  [7, ['0', '2', '4', '6', '8']],
  [101, ['0', '50', '100', '150']],
  [1999, ['0', '500', '1,000', '1,500', '2,000']],
  [1_234_567, ['0', '500K', '1M', '1.5M']],
]
for (const [most, labels] of scales) {
  test(`the axis to ${most}`, () => {
    assert.deepEqual(ticks(plotSvg(data([0, most])).toString()), labels)
  })
}

test('every value is in the table, newest first, and in the drawing', () => {
  const html = plot(data([3, 0, 20_000])).toString()
  assert.match(
    html,
    /Week of<.*\n.*\n.*Jan 19, 2026<\/th><td>20,000<.*\n.*Jan 12.*>0<.*\n.*Jan 5.*>3</,
  )
  assert.equal(html.match(/M[\d.]+ 130V[\d.]+h[\d.]+V130z/g)?.length, 2)
  assert.match(html, /aria-label="Releases &amp; more: 20,003"/)
})

test('totals have the last value as their name', () => {
  assert.match(plotSvg(data([1, 5, 4], true)).toString(), /aria-label="Releases &amp; more: 4"/)
})

test('a drawing stays inside its box, whatever the values', () => {
  for (const values of [[], [0], [1], Array(400).fill(2 ** 53 - 1), [1, 1e12, 0]]) {
    const svg = plotSvg(data(values), true).toString()
    assert.doesNotMatch(svg, /NaN|Infinity|="-/)
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /)
  }
})

test('months under the axis do not overlap', () => {
  const svg = plotSvg(data(Array(53).fill(1))).toString()
  const at = [...svg.matchAll(/<text x="([\d.]+)" y="145">/g)].map(match => Number(match[1]))
  assert.ok(at.length >= 5 && at.length <= 12)
  for (const [index, x] of at.entries()) if (index > 0) assert.ok(x - (at[index - 1] ?? 0) >= 40)
})
