import { counted } from '../../../core/quantity.ts'
import type { Result } from '../run.ts'
import { WEIGHTS } from '../statement.ts'

const MARKS = { fail: 'FAIL', pass: 'ok', untried: '-' }

/** Returns the lines that a person reads: what fails first, the worst above; counts at the end. */
export function tableLines(results: readonly Result[]): string[] {
  const rank = ({ status, weight }: Result) =>
    ['fail', 'untried', 'pass'].indexOf(status) * WEIGHTS.length + WEIGHTS.indexOf(weight)
  const sorted = [...results].sort((a, b) => rank(a) - rank(b))
  const wide = Math.max(...results.map(({ id }) => id.length))
  return [...sorted.flatMap(result => lineOf(result, wide)), '', summary(results)]
}

/** Returns for example `120 statements: 118 hold, 1 fails, 1 was not tried`. */
export function summary(results: readonly Result[]): string {
  const count = (status: Result['status']) => results.filter(each => each.status === status).length
  const [pass, fail, untried] = [count('pass'), count('fail'), count('untried')]
  return `${counted(results.length, 'statement')}: ${pass} hold, ${fail} fail, ${untried} not tried`
}

function lineOf({ id, sentence, source, weight, status, seen, cargo }: Result, wide: number) {
  const by = cargo === null ? '' : ` (Cargo ${cargo})`
  const line = `${MARKS[status].padEnd(5)} ${id.padEnd(wide)}  ${sentence}${by}`
  if (status === 'pass') return [line]
  if (status === 'untried') return [`${line} [${seen}]`]
  return [line, `      ${weight}: ${seen}`, `      ${source}`]
}
