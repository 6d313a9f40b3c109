/** The labels of CVSS scores, the lowest first. */
export const SEVERITIES = ['none', 'low', 'medium', 'high', 'critical'] as const

export type Severity = (typeof SEVERITIES)[number]

type Weights = Readonly<Record<string, number>>

/** The weights of the base metrics of CVSS 3; those of `PR` where the scope changes are `CR`. */
const IMPACT: Weights = { H: 0.56, L: 0.22, N: 0 }
const WEIGHTS: Readonly<Record<string, Weights>> = {
  ...{ AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 }, AC: { L: 0.77, H: 0.44 } },
  ...{ PR: { N: 0.85, L: 0.62, H: 0.27 }, CR: { N: 0.85, L: 0.68, H: 0.5 } },
  ...{ UI: { N: 0.85, R: 0.62 }, C: IMPACT, I: IMPACT, A: IMPACT },
}

/** Whether a text has the form of a CVSS vector of version 3 or 4. */
export function isCvss(text: string): boolean {
  return /^CVSS:(?:3\.[01]|4\.0)(?:\/[A-Z]{1,3}:[A-Za-z]{1,6}){4,40}$/.test(text)
}

/** Returns the label of the base score of a vector of CVSS 3; null for any other text. */
export function cvssLabel(vector: string): Severity | null {
  const metrics = new Map(vector.split('/').map(part => part.split(':') as [string, string]))
  const isChanged = metrics.get('S') === 'C'
  const weight = (metric: string, row = metric) =>
    WEIGHTS[row]?.[metrics.get(metric) ?? ''] ?? Number.NaN
  const ease = weight('AV') * weight('AC') * weight('UI') * weight('PR', isChanged ? 'CR' : 'PR')
  const base = 1 - (1 - weight('C')) * (1 - weight('I')) * (1 - weight('A'))
  const isWhole = isCvss(vector) && vector.startsWith('CVSS:3') && /\/S:[UC]/.test(vector)
  if (!isWhole || Number.isNaN(ease * base)) return null
  const impact = isChanged ? 7.52 * (base - 0.029) - 3.25 * (base - 0.02) ** 15 : 6.42 * base
  const sum = impact <= 0 ? 0 : (isChanged ? 1.08 : 1) * (impact + 8.22 * ease)
  // As the specification rounds up, so that no digit far behind the point counts.
  const score = Math.ceil(Math.round(Math.min(sum, 10) * 100_000) / 10_000) / 10
  return SEVERITIES[[0.1, 4, 7, 9].filter(bound => score >= bound).length] ?? null
}
