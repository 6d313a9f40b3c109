import type { Result } from '../run.ts'

/** Returns the results as JUnit, which CI systems show: a suite for each registry. */
export function junit(results: readonly Result[]): string {
  const targets = [...new Set(results.map(({ target }) => target))]
  const suites = targets.map(target =>
    suite(
      target,
      results.filter(each => each.target === target),
    ),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`
}

function suite(target: string, results: readonly Result[]): string {
  const count = (status: Result['status']) => results.filter(each => each.status === status).length
  const counts = `tests="${results.length}" failures="${count('fail')}" skipped="${count('untried')}"`
  return `<testsuite name="${escaped(target)}" ${counts}>\n${results.map(testcase).join('')}</testsuite>\n`
}

function testcase({ id, sentence, source, weight, status, seen, cargo }: Result): string {
  const name = cargo === null ? id : `${id} (Cargo ${cargo})`
  const start = `<testcase name="${escaped(name)}" classname="${escaped(weight)}"`
  if (status === 'pass') return `${start}/>\n`
  const message = `message="${escaped(seen ?? '')}"`
  if (status === 'untried') return `${start}><skipped ${message}/></testcase>\n`
  return `${start}><failure ${message}>${escaped(`${sentence}\n${source}`)}</failure></testcase>\n`
}

/** Escapes a text for XML, which has no control characters but these. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[<>&"]/g, character => `&#${character.charCodeAt(0)};`)
}
