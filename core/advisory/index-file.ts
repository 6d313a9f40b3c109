import * as v from 'valibot'
import { isName } from '../name.ts'
import { jsonIn } from '../plain-data.ts'
import { isVersion } from '../version.ts'
import { type Advisory, cleanTitle, isAdvisoryId } from './advisory.ts'

/** What the list of all advisories has of one: enough to check a lock file. */
export type ListedAdvisory = Pick<
  Advisory,
  'id' | 'package' | 'source' | 'title' | 'informational' | 'cvss' | 'aliases' | 'ranges'
>

/** Returns what the list has of an advisory. */
export function listedAdvisory(advisory: Advisory): ListedAdvisory {
  const { id, package: name, source, title, informational, cvss, aliases, ranges } = advisory
  return { id, package: name, source, title, informational, cvss, aliases, ranges }
}

/** The advisories that a registry has, and its own index URLs. */
export interface AdvisoryIndex {
  readonly registry: readonly string[]
  readonly advisories: readonly ListedAdvisory[]
}

/** Renders the list of all advisories, a line for each; null without any. */
export function renderAdvisoryIndex(
  own: Iterable<string>,
  advisories: readonly ListedAdvisory[],
): string | null {
  if (advisories.length === 0) return null
  const lines = advisories.map(advisory => JSON.stringify(advisory)).join(',\n')
  return `{"registry":${JSON.stringify([...own])},"advisories":[\n${lines}\n]}\n`
}

const text = v.string()
const version = v.custom<ListedAdvisory['ranges'][number]['introduced']>(
  value => typeof value === 'string' && isVersion(value),
)

const SCHEMA = v.object({
  registry: v.array(text),
  advisories: v.array(
    v.object({
      id: v.pipe(text, v.check(isAdvisoryId)),
      package: v.custom<Advisory['package']>(value => typeof value === 'string' && isName(value)),
      source: v.nullable(text),
      title: v.pipe(text, v.transform(cleanTitle)),
      informational: v.nullable(v.pipe(text, v.transform(cleanTitle))),
      cvss: v.nullable(text),
      aliases: v.array(v.pipe(text, v.transform(cleanTitle))),
      ranges: v.array(v.object({ introduced: version, fixed: v.nullable(version) })),
    }),
  ),
})

/** Reads such a list, which another registry may have rendered; null for anything else. */
export function parseAdvisoryIndex(file: string): AdvisoryIndex | null {
  const result = v.safeParse(SCHEMA, jsonIn(file))
  return result.success ? result.output : null
}
