import * as v from 'valibot'
import { collect } from '../error/error.ts'
import { jsonIn } from '../plain-data.ts'
import type { Advisory } from './advisory.ts'
import { advisoriesOfOsv, osvOf } from './osv.ts'

/** The advisories that a registry has, and its own index URLs. */
export interface AdvisoryIndex {
  readonly registry: readonly string[]
  readonly advisories: readonly Advisory[]
}

const SCHEMA = v.object({ registry: v.array(v.string()), advisories: v.array(v.unknown()) })

/**
 * Renders the list of all advisories in the form of OSV, a line for each and package, without
 * descriptions and links; null without any.
 */
export function renderAdvisoryIndex({ registry, advisories }: AdvisoryIndex): string | null {
  const lines = advisories.map(advisory =>
    JSON.stringify(osvOf([{ ...advisory, description: '', references: [] }])),
  )
  const list = lines.length === 0 ? null : lines.join(',\n')
  return list && `{"registry":${JSON.stringify(registry)},"advisories":[\n${list}\n]}\n`
}

/** Reads such a list, which another registry may have rendered; null for anything else. */
export function parseAdvisoryIndex(file: string): AdvisoryIndex | null {
  const result = v.safeParse(SCHEMA, jsonIn(file))
  const advisories = collect(
    [],
    () => result.success && result.output.advisories.flatMap(advisoriesOfOsv),
  )
  return result.success && advisories ? { registry: result.output.registry, advisories } : null
}
