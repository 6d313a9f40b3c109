/** The labels of CVSS scores, the lowest first. */
export const SEVERITIES = ['none', 'low', 'medium', 'high', 'critical'] as const

export type Severity = (typeof SEVERITIES)[number]

/** The weights of the base metrics of CVSS 3; those of `PR` where the scope changes are `CR`. */
const WEIGHTS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 },
  AC: { L: 0.77, H: 0.44 },
  PR: { N: 0.85, L: 0.62, H: 0.27 },
  CR: { N: 0.85, L: 0.68, H: 0.5 },
  UI: { N: 0.85, R: 0.62 },
  C: { H: 0.56, L: 0.22, N: 0 },
  I: { H: 0.56, L: 0.22, N: 0 },
  A: { H: 0.56, L: 0.22, N: 0 },
}

/** Whether a text has the form of a CVSS vector of version 3 or 4. */
export function isCvss(text: string): boolean {
  return /^CVSS:(?:3\.[01]|4\.0)(?:\/[A-Z]{1,3}:[A-Za-z]{1,6}){4,40}$/.test(text)
}

/** Returns the base score of a vector of CVSS 3, of 0 to 10; null for any other text. */
export function cvssScore(vector: string): number | null {
  if (!isCvss(vector) || !vector.startsWith('CVSS:3')) return null
  const metrics = new Map(vector.split('/').map(part => part.split(':') as [string, string]))
  const isChanged = metrics.get('S') === 'C'
  if (!isChanged && metrics.get('S') !== 'U') return null
  const weight = (metric: string, row = metric) => WEIGHTS[row]?.[metrics.get(metric) ?? '']
  const [av, ac, ui, c, i, a] = ['AV', 'AC', 'UI', 'C', 'I', 'A'].map(metric => weight(metric))
  const weights = [av, ac, weight('PR', isChanged ? 'CR' : 'PR'), ui, c, i, a]
  if (weights.includes(undefined)) return null
  const [vectorOf = 0, complexity = 0, rights = 0, user = 0, ...impacts] = weights as number[]
  const base = 1 - impacts.reduce((product, each) => product * (1 - each), 1)
  const impact = isChanged ? 7.52 * (base - 0.029) - 3.25 * (base - 0.02) ** 15 : 6.42 * base
  if (impact <= 0) return 0
  const sum = impact + 8.22 * vectorOf * complexity * rights * user
  const most = Math.min(isChanged ? 1.08 * sum : sum, 10)
  // As the specification rounds up, so that no digit far behind the point counts.
  return Math.ceil(Math.round(most * 100_000) / 10_000) / 10
}

/** Returns the label of a score. */
export function severityOfScore(score: number): Severity {
  const bounds = [0.1, 4, 7, 9]
  return SEVERITIES[bounds.filter(bound => score >= bound).length] ?? 'none'
}
