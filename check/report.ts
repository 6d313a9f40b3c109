import { counted } from '../core/quantity.ts'
import { isBroken, type Result } from './check.ts'
import { WEIGHTS } from './table.ts'

const LABEL = 'cargo registry'
/** Pixels of a character of 11 pixels in DejaVu Sans, more or less. */
const CHARACTER = 6.6

/**
 * Returns the lines that a person reads: what fails stands last, the worst at the end, and then
 * the counts.
 */
export function tableLines(results: readonly Result[]): string[] {
  const { pass, fail, untried } = byStatus(results)
  const reasons = grouped(untried, ({ seen }) => seen ?? '')
  const rank = ({ weight }: Result) => WEIGHTS.indexOf(weight)
  const counts = `${pass.length} hold, ${fail.length} fail, ${untried.length} not tried`
  return [
    ...pass.map(result => `ok    ${nameOf(result)}: ${result.sentence}`),
    ...reasons.map(([why, all]) => `-     not tried, ${why}: ${all.map(nameOf).join(', ')}`),
    ...fail
      .sort((a, b) => rank(b) - rank(a))
      .flatMap(result => [
        `FAIL  ${nameOf(result)}: ${result.sentence}`,
        `      ${result.weight}: ${result.seen}`,
        `      ${result.source}`,
      ]),
    '',
    `${counted(results.length, 'statement')}: ${counts}`,
  ]
}

/** Returns the results as JUnit, which CI systems show: a suite for each registry. */
export function junit(results: readonly Result[]): string {
  const texts = grouped(results, ({ target }) => target).map(([target, all]) => {
    const { fail, untried } = byStatus(all)
    const counts = `tests="${all.length}" failures="${fail.length}" skipped="${untried.length}"`
    return `<testsuite name="${escaped(target)}" ${counts}>\n${all.map(testcase).join('')}</testsuite>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${texts.join('')}</testsuites>\n`
}

/** Returns an image with how many of the tried statements hold: green, yellow, or red if it breaks. */
export function badge(results: readonly Result[]): string {
  const { pass, fail } = byStatus(results)
  const color = isBroken(results) ? '#c33' : fail.length > 0 ? '#a80' : '#383'
  const text = `${pass.length} of ${pass.length + fail.length}`
  const width = (words: string) => Math.ceil(words.length * CHARACTER) + 12
  const [a, b] = [width(LABEL), width(text)]
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${a + b}" height="20" role="img">
<title>${LABEL}: ${text} statements hold</title>
<rect width="${a}" height="20" fill="#444"/><rect x="${a}" width="${b}" height="20" fill="${color}"/>
<g fill="#fff" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11" text-anchor="middle">
<text x="${a / 2}" y="14">${LABEL}</text><text x="${a + b / 2}" y="14">${text}</text></g>
</svg>
`
}

function byStatus(results: readonly Result[]) {
  const having = (status: Result['status']) => results.filter(each => each.status === status)
  return { pass: having('pass'), fail: having('fail'), untried: having('untried') }
}

function grouped(results: readonly Result[], keyOf: (result: Result) => string) {
  const keys = [...new Set(results.map(keyOf))]
  return keys.map(key => [key, results.filter(each => keyOf(each) === key)] as const)
}

function nameOf({ id, cargo }: Result): string {
  return cargo === null ? id : `${id} (Cargo ${cargo})`
}

function testcase(result: Result): string {
  const { sentence, source, weight, status, seen } = result
  const tag = { pass: '', fail: 'failure', untried: 'skipped' }[status]
  const inner = `<${tag} message="${escaped(seen ?? '')}">${escaped(`${sentence}\n${source}`)}</${tag}>`
  const start = `<testcase name="${escaped(nameOf(result))}" classname="${escaped(weight)}">`
  return `${start}${tag && inner}</testcase>\n`
}

/** Escapes a text for XML, which has no control characters but these. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[<>&"]/g, character => `&#${character.charCodeAt(0)};`)
}
