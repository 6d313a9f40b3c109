/**
 * Whether a version fits a requirement as Cargo prints it. True for any requirement that names a
 * pre-release, of which nothing more is said.
 */
export function fits(requirement: string, version: string): boolean {
  const numbers = version.replace(/\+.*/, '')
  if (requirement.includes('-')) return true
  if (numbers.includes('-')) return false
  const is = numbers.split('.').map(Number)
  return requirement.split(', ').every(part => {
    const [, operator = '', given = ''] = /^(\D*)([\d.]*)/.exec(part) ?? []
    const first = given.split('.').flatMap(number => (number === '' ? [] : Number(number)))
    if (first.length === 0) return true
    const last = first.length - 1
    const nonZero = first.findIndex(number => number > 0)
    const step =
      operator === '~' ? Math.min(1, last) : operator === '^' && nonZero >= 0 ? nonZero : last
    const end = first.slice(0, step + 1)
    end[step] = (end[step] ?? 0) + 1
    const [isAbove, isBelow] = [compare(is, first) >= 0, compare(is, end) < 0]
    if (operator === '>') return !isBelow
    if (operator === '<') return !isAbove
    return (operator === '<=' || isAbove) && (operator === '>=' || isBelow)
  })
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = [0, 1, 2].find(at => (a[at] ?? 0) !== (b[at] ?? 0)) ?? 0
  return (a[at] ?? 0) - (b[at] ?? 0)
}
