import * as v from 'valibot'
import { canonicalName } from '../name.ts'
import { jsonIn } from '../plain-data.ts'
import { compareVersions, isVersion, type Version } from '../version.ts'
import { type Advisory, advisoryOf, badAdvisory, ITEMS_MAX } from './advisory.ts'
import { following, LOWEST, type VersionRange } from './ranges.ts'
import { parsedBy } from './rustsec.ts'

/** The ecosystem of packages of crates.io; a colon and an index URL follow for other registries. */
const ECOSYSTEM = 'crates.io'

const text = v.nullish(v.string(), null)
const texts = v.nullish(v.array(v.string()), [])
const list = <S extends v.GenericSchema>(item: S) =>
  v.nullish(v.pipe(v.array(item), v.maxLength(10_000)), [])
const severity = list(v.object({ type: v.string(), score: v.string() }))
const affects = v.nullish(v.object({ arch: texts, os: texts, functions: texts }))

const AFFECTED = v.object({
  package: v.object({ ecosystem: v.string(), name: v.string() }),
  severity,
  ranges: list(v.object({ type: v.string(), events: list(v.record(v.string(), v.string())) })),
  versions: texts,
  ecosystem_specific: v.nullish(v.object({ affects })),
  database_specific: v.nullish(v.object({ informational: text, cvss: text, source: text })),
})

const SCHEMA = v.object({
  ...{ id: v.string(), modified: v.string(), published: text, withdrawn: text, summary: text },
  ...{ details: text, aliases: texts, severity, affected: list(AFFECTED) },
  references: list(v.object({ url: v.string() })),
})

/** Reads a JSON file of OSV; see `advisoriesOfOsv`. */
export function parseOsv(file: string): Advisory[] {
  return advisoriesOfOsv(jsonIn(file))
}

/**
 * Returns what a document of OSV says of each package that Cargo has: nothing for one that was
 * withdrawn. Refuses what is none, and wrong versions.
 */
export function advisoriesOfOsv(document: unknown): Advisory[] {
  const { id, modified, withdrawn, aliases, ...more } = parsedBy(SCHEMA, document)
  const about = more.affected.filter(each =>
    `${each.package.ecosystem}:`.startsWith(`${ECOSYSTEM}:`),
  )
  if (withdrawn !== null) return []
  if (about.length > ITEMS_MAX) badAdvisory(`it is about more than ${ITEMS_MAX} packages`)
  const all = about.map(({ package: { name, ecosystem }, ...affected }) => {
    const scores = new Map(
      [...more.severity, ...affected.severity].map(({ type, score }) => [type, score]),
    )
    const { informational = null, cvss = null, source = null } = affected.database_specific ?? {}
    const where = { arch: [], os: [], functions: [], ...affected.ecosystem_specific?.affects }
    return advisoryOf({
      ...{ id, package: name, source: ecosystem.slice(ECOSYSTEM.length + 1) || source },
      ...{ title: more.summary ?? id, description: more.details ?? '', modified, aliases },
      ...{ published: more.published ?? modified, informational, ...where },
      cvss: scores.get('CVSS_V3') ?? scores.get('CVSS_V4') ?? cvss,
      references: more.references.map(({ url }) => url),
      ranges: [
        ...affected.ranges.flatMap(({ type, events }) => (type === 'GIT' ? [] : rangesOf(events))),
        ...affected.versions.flatMap(at => rangesOf([{ introduced: at }, { last_affected: at }])),
      ],
    })
  })
  return joined(all)
}

/** Joins what is about one package: GitHub has an item for each range of its versions. */
function joined(advisories: readonly Advisory[]): Advisory[] {
  const packages = new Map<string, Advisory>()
  for (const each of advisories) {
    const key = `${canonicalName(each.package)} ${each.source}`
    const { ranges } = packages.get(key) ?? { ranges: [] }
    packages.set(key, advisoryOf({ ...each, ranges: [...ranges, ...each.ranges] }))
  }
  return [...packages.values()]
}

/** Returns the ranges of events in any order; RustSec begins and ends empty ones at one version. */
function rangesOf(events: readonly Readonly<Record<string, string>>[]): VersionRange[] {
  const points = events.flatMap(({ introduced, fixed, last_affected: last }) => [
    ...(introduced === undefined ? [] : [{ at: versionOf(introduced), isEnd: false }]),
    ...(fixed === undefined ? [] : [{ at: versionOf(fixed), isEnd: true }]),
    ...(last === undefined ? [] : [{ at: following(versionOf(last)), isEnd: true }]),
  ])
  const ranges: VersionRange[] = []
  let open: Version | null = null
  for (const { at, isEnd } of points.sort((a, b) => compareVersions(a.at, b.at))) {
    if (isEnd && open !== null && compareVersions(open, at) < 0)
      ranges.push({ introduced: open, fixed: at })
    open = isEnd ? null : (open ?? at)
  }
  return open === null ? ranges : [...ranges, { introduced: open, fixed: null }]
}

function versionOf(text: string): Version {
  if (text === '0') return LOWEST
  return isVersion(text) ? text : badAdvisory(`${JSON.stringify(text)} is no version`)
}

/** Returns an advisory, with all of its packages, as a document that `advisoriesOfOsv` reads. */
export function osvOf(advisories: readonly [Advisory, ...Advisory[]]) {
  const [{ id, modified, published, aliases, title, description, references, cvss }] = advisories
  const type = cvss?.startsWith('CVSS:4') ? 'CVSS_V4' : 'CVSS_V3'
  return {
    ...{ schema_version: '1.7.0', id, modified, published, aliases },
    ...{ summary: title, details: description },
    severity: cvss === null ? [] : [{ type, score: cvss }],
    affected: advisories.map(({ package: name, source, informational, ranges, ...more }) => ({
      package: { ecosystem: source === null ? ECOSYSTEM : `${ECOSYSTEM}:${source}`, name },
      ecosystem_specific: { affects: { arch: more.arch, os: more.os, functions: more.functions } },
      database_specific: { cvss: more.cvss, informational },
      ranges: ranges.map(({ introduced, fixed }) => {
        return { type: 'SEMVER', events: [{ introduced }, ...(fixed === null ? [] : [{ fixed }])] }
      }),
    })),
    references: references.map(url => ({ type: 'WEB', url })),
  }
}
