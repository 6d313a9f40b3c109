import * as v from 'valibot'
import { jsonIn } from '../plain-data.ts'
import { compareVersions, isVersion, type Version } from '../version.ts'
import { type Advisory, advisoryOf, badAdvisory, ITEMS_MAX } from './advisory.ts'
import { following, LOWEST, type VersionRange } from './ranges.ts'

/** The ecosystem of packages of crates.io; a colon and an index URL follow for other registries. */
const ECOSYSTEM = 'crates.io'

const text = v.nullish(v.string(), null)
const texts = v.nullish(v.array(v.string()), [])
const event = v.record(v.string(), v.string())
const affects = { arch: texts, os: texts, functions: texts }
const severity = v.nullish(v.array(v.object({ type: v.string(), score: v.string() })), [])

const SCHEMA = v.object({
  id: v.string(),
  modified: v.string(),
  published: text,
  withdrawn: text,
  aliases: texts,
  summary: text,
  details: text,
  severity,
  references: v.nullish(v.array(v.object({ url: v.string() })), []),
  affected: v.nullish(
    v.pipe(
      v.array(
        v.object({
          package: v.object({ ecosystem: v.string(), name: v.string() }),
          severity,
          ranges: v.nullish(
            v.array(v.object({ type: v.string(), events: v.nullish(v.array(event), []) })),
            [],
          ),
          versions: texts,
          ecosystem_specific: v.nullish(v.object({ affects: v.nullish(v.object(affects)) })),
          database_specific: v.nullish(v.object({ informational: text, cvss: text, source: text })),
        }),
      ),
      v.maxLength(ITEMS_MAX),
    ),
    [],
  ),
})

type Document = v.InferOutput<typeof SCHEMA>
type Affected = NonNullable<Document['affected']>[number]

/**
 * Reads a JSON file of OSV: one advisory for each of its packages that Cargo has. Returns nothing
 * for one that was withdrawn. Refuses what is none, and wrong versions.
 */
export function parseOsv(file: string): Advisory[] {
  const result = v.safeParse(SCHEMA, jsonIn(file), { abortEarly: true })
  if (!result.success) {
    const [{ path, message }] = result.issues
    return badAdvisory(`${path?.map(item => String(item.key)).join('.') ?? 'JSON'}: ${message}`)
  }
  const { id, modified, published, withdrawn, summary, details, ...more } = result.output
  if (withdrawn !== null) return []
  const about = (more.affected ?? []).filter(({ package: { ecosystem } }) =>
    `${ecosystem}:`.startsWith(`${ECOSYSTEM}:`),
  )
  return about.map(affected => {
    const own = affected.database_specific
    const [cvss = null] = [...(affected.severity ?? []), ...(more.severity ?? [])]
      .filter(({ type }) => type === 'CVSS_V3' || type === 'CVSS_V4')
      .sort((a, b) => (a.type < b.type ? -1 : 1))
      .map(({ score }) => score)
    const suffix = affected.package.ecosystem.slice(ECOSYSTEM.length + 1)
    const { arch, os, functions } = affected.ecosystem_specific?.affects ?? {}
    return advisoryOf({
      id,
      package: affected.package.name,
      source: suffix === '' ? (own?.source ?? null) : suffix,
      title: summary ?? id,
      description: details ?? '',
      published: published ?? modified,
      modified,
      informational: own?.informational ?? null,
      cvss: cvss ?? own?.cvss ?? null,
      aliases: more.aliases ?? [],
      references: (more.references ?? []).map(({ url }) => url),
      functions: functions ?? [],
      arch: arch ?? [],
      os: os ?? [],
      ranges: rangesOf(affected),
    })
  })
}

function rangesOf({ ranges, versions }: Affected): VersionRange[] {
  const listed = (versions ?? []).map(version => {
    const introduced = versionOf(version)
    return { introduced, fixed: following(introduced) }
  })
  const events = (ranges ?? []).filter(({ type }) => type !== 'GIT').map(range => range.events)
  return [...events.flatMap(list => rangesOfEvents(list ?? [])), ...listed]
}

/** Returns the ranges of events in any order; RustSec begins and ends empty ones at one version. */
function rangesOfEvents(events: readonly Readonly<Record<string, string>>[]): VersionRange[] {
  const points = events.flatMap(each => [
    ...(each.introduced === undefined ? [] : [{ at: versionOf(each.introduced), isEnd: false }]),
    ...(each.fixed === undefined ? [] : [{ at: versionOf(each.fixed), isEnd: true }]),
    ...(each.last_affected === undefined
      ? []
      : [{ at: following(versionOf(each.last_affected)), isEnd: true }]),
  ])
  points.sort((a, b) => compareVersions(a.at, b.at))
  const ranges: VersionRange[] = []
  let open: Version | null = null
  for (const { at, isEnd } of points) {
    if (!isEnd) open ??= at
    else if (open !== null) {
      if (compareVersions(open, at) < 0) ranges.push({ introduced: open, fixed: at })
      open = null
    }
  }
  return open === null ? ranges : [...ranges, { introduced: open, fixed: null }]
}

function versionOf(text: string): Version {
  if (text === '0') return LOWEST
  return isVersion(text) ? text : badAdvisory(`${JSON.stringify(text)} is no version`)
}

/** Renders an advisory, with all of its packages, as a file of OSV that `parseOsv` reads again. */
export function renderOsv(advisories: readonly [Advisory, ...Advisory[]]): string {
  const [{ id, modified, published, aliases, title, description, references }] = advisories
  const affected = advisories.map(advisory => {
    const { package: name, source, cvss, informational, arch, os, functions } = advisory
    const events = advisory.ranges.flatMap(({ introduced, fixed }) => [
      { introduced },
      ...(fixed === null ? [] : [{ fixed }]),
    ])
    return {
      package: {
        ecosystem: source === null ? ECOSYSTEM : `${ECOSYSTEM}:${source}`,
        name,
        ...(source === null && { purl: `pkg:cargo/${name}` }),
      },
      ecosystem_specific: { affects: { arch, os, functions } },
      database_specific: { cvss, informational },
      ranges: [{ type: 'SEMVER', events }],
      versions: [],
    }
  })
  const { cvss } = advisories[0]
  const type = cvss?.startsWith('CVSS:4') ? 'CVSS_V4' : 'CVSS_V3'
  const osv = {
    schema_version: '1.7.0',
    id,
    modified,
    published,
    aliases,
    summary: title,
    details: description,
    severity: cvss === null ? [] : [{ type, score: cvss }],
    affected,
    references: references.map(url => ({ type: 'WEB', url })),
  }
  return `${JSON.stringify(osv, null, 2)}\n`
}
