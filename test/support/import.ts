import { importAll, type Outcome } from '../../generator/import/import.ts'
import { openSource } from '../../generator/import/source/open.ts'
import type { ImportRequest, Source } from '../../generator/import/source/source.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { OPERATOR } from './workplace.ts'

export interface TakenOver {
  readonly sums: Record<Outcome['outcome'], number>
  readonly outcomes: readonly Outcome[]
  readonly source: Source
}

/** Imports a source into a registry; the public tree is another matter. */
export async function takeOver(
  registry: Registry,
  source: string,
  more: Partial<ImportRequest> & { owner?: number; pause?: number; silenceMs?: number } = {},
): Promise<TakenOver> {
  const { owner = null, pause = 1, silenceMs = 2000, ...rest } = more
  const opened = await openSource({ source, ...rest }, { pause, silenceMs })
  const sums = { added: 0, present: 0, refused: 0 }
  const outcomes: Outcome[] = []
  try {
    for await (const outcome of importAll(registry, opened, {
      change: OPERATOR,
      source,
      owner,
      warnOfName: async () => [],
    })) {
      sums[outcome.outcome]++
      outcomes.push(outcome)
    }
  } finally {
    await opened.close?.()
  }
  return { sums, outcomes, source: opened }
}

/** The outcome of each version, one per line. */
export function report(outcomes: readonly Outcome[]): string {
  return outcomes
    .map(
      outcome =>
        `${outcome.name} ${outcome.version} ${outcome.outcome}: ${outcome.issues.map(issue => issue.message).join(' | ')}`,
    )
    .join('\n')
}
