import { counted } from '../../../core/quantity.ts'
import type { Result } from '../run.ts'
import { WEIGHTS } from '../table.ts'

/**
 * Returns the lines that a person reads: what fails stands last, the worst at the end, and then
 * the counts.
 */
export function tableLines(results: readonly Result[]): string[] {
  const having = (status: Result['status']) => results.filter(each => each.status === status)
  const rank = ({ weight }: Result) => WEIGHTS.indexOf(weight)
  const reasons = [...new Set(having('untried').map(({ seen }) => seen))]
  const idsOf = (why: string | null) =>
    having('untried').flatMap(({ id, seen }) => (seen === why ? id : []))
  return [
    ...having('pass').map(result => `ok    ${named(result)}`),
    ...reasons.map(why => `-     not tried, ${why}: ${idsOf(why).join(', ')}`),
    ...having('fail')
      .sort((a, b) => rank(b) - rank(a))
      .flatMap(failure),
    '',
    summary(results),
  ]
}

/** Returns for example `120 statements: 118 hold, 1 fails, 1 was not tried`. */
export function summary(results: readonly Result[]): string {
  const count = (status: Result['status']) => results.filter(each => each.status === status).length
  const [pass, fail, untried] = [count('pass'), count('fail'), count('untried')]
  return `${counted(results.length, 'statement')}: ${pass} hold, ${fail} fail, ${untried} not tried`
}

function named({ id, sentence, cargo }: Result): string {
  return `${id}: ${sentence}${cargo === null ? '' : ` (Cargo ${cargo})`}`
}

function failure(result: Result): string[] {
  const { weight, seen, source } = result
  return [`FAIL  ${named(result)}`, `      ${weight}: ${seen}`, `      ${source}`]
}
