import type { Finding } from '../../generator/verify/finding.ts'

/** What a verification finds, a line each: whether it is lost or repaired, where and what. */
export async function findingsOf(findings: AsyncIterable<Finding>): Promise<string[]> {
  const lines: string[] = []
  for await (const { where, what, lost, repaired } of findings)
    lines.push(`${lost ? 'lost ' : ''}${repaired ? 'repaired ' : ''}${where}: ${what}`)
  return lines
}
