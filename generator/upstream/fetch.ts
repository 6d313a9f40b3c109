import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { readEntry } from '../../core/entry/parse.ts'
import { type Issue, issue, Refusal } from '../../core/error/error.ts'
import { isName, type Name } from '../../core/name.ts'
import { parseRequirement, type Requirement, satisfies } from '../../core/requirement.ts'
import type { UpstreamLine } from '../../core/upstream/line.ts'
import type { LockedPackage } from '../../core/upstream/lock-file.ts'
import { highestVersion } from '../../core/version.ts'
import type { Progress } from '../projections/index/build.ts'
import type { Upstream } from './upstream.ts'

/** A crate of which the newest version that fits is wanted, with all that it needs. */
export interface WantedCrate {
  readonly name: Name
  readonly requirement: Requirement
}

/** What a fetch has brought, and what it could not bring. */
export interface FetchOutcome {
  readonly fetched: number
  /** Versions that were here before. */
  readonly present: number
  readonly bytes: number
  readonly issues: readonly Issue[]
}

/** The most `.crate` files and index files that are fetched at once. */
const AT_ONCE = 16

/** The most versions of one closure; more are no project's dependencies. */
const CLOSURE_MAX = 20_000

interface Fetch {
  readonly upstream: Upstream
  readonly lines: Map<string, UpstreamLine>
  readonly issues: Issue[]
  readonly progress: Progress
}

/**
 * Has here the packages of lock files, each with the checksum that the lock file names, and crates
 * with everything that they need: of each requirement the newest version that is shown, without
 * development dependencies.
 */
export async function fetchAhead(
  upstream: Upstream,
  locked: readonly LockedPackage[],
  wanted: readonly WantedCrate[],
  progress: Progress,
): Promise<FetchOutcome> {
  const fetch = { upstream, lines: new Map<string, UpstreamLine>(), issues: [], progress }
  await findLocked(fetch, locked)
  await findClosure(fetch, wanted)
  return fetchLines(fetch)
}

async function findLocked(
  { upstream, lines, issues, progress }: Fetch,
  packages: readonly LockedPackage[],
): Promise<void> {
  let done = 0
  await forEachConcurrently(
    packages,
    async ({ name, version, checksum }) => {
      progress('reading index files', ++done, packages.length)
      const line = await orIssue(issues, () => upstream.line(name, version, checksum))
      if (line) lines.set(`${name}@${version}`, line)
      else if (line === null) issues.push(issue('upstream_version_unknown', { name, version }))
    },
    AT_ONCE,
  )
}

async function findClosure(
  { upstream, lines, issues, progress }: Fetch,
  wanted: readonly WantedCrate[],
): Promise<void> {
  const asked = new Set<string>()
  const meant = new Set(wanted.map(({ name }) => name))
  let next = [...wanted]
  while (next.length > 0) {
    const found: WantedCrate[] = []
    await forEachConcurrently(
      next,
      async ({ name, requirement }) => {
        const line = await orIssue(issues, () =>
          newest(upstream, name, requirement, meant.has(name)),
        )
        if (line === null) issues.push(issue('upstream_requirement', { name, requirement }))
        if (!line) return
        lines.set(`${line.name}@${line.version}`, line)
        found.push(...needsOf(line))
      },
      AT_ONCE,
    )
    progress('reading index files', lines.size, 0)
    next = found.filter(({ name, requirement }) => {
      const key = `${name} ${requirement}`
      return !asked.has(key) && asked.add(key)
    })
    if (lines.size <= CLOSURE_MAX) continue
    issues.push(issue('upstream_closure', { max: CLOSURE_MAX }))
    break
  }
}

/** Returns the newest version that fits and is shown; null if there is none. */
async function newest(
  upstream: Upstream,
  name: Name,
  requirement: Requirement,
  isMeant: boolean,
): Promise<UpstreamLine | null> {
  const versions = (await upstream.explain(name, isMeant)) ?? []
  const fitting = versions
    .filter(({ verdict }) => verdict.state === 'shown' || verdict.state === 'guarded')
    .map(({ line }) => line)
    .filter(({ version }) => satisfies(requirement, version))
  return highestVersion(fitting) ?? null
}

function needsOf(line: UpstreamLine): WantedCrate[] {
  return readEntry(line.text).deps.flatMap(dep => {
    const name = dep.package ?? dep.name
    if (dep.kind === 'dev' || dep.registry || !isName(name)) return []
    return [{ name, requirement: parseRequirement(dep.req) }]
  })
}

async function fetchLines({ upstream, lines, issues, progress }: Fetch): Promise<FetchOutcome> {
  let [fetched, present, bytes] = [0, 0, 0]
  await forEachConcurrently(
    lines.values(),
    async line => {
      const { name, version, cksum } = line
      const get = () => upstream.crateFile(name, version, cksum, true)
      if ((await upstream.source.files.size(line)) !== null) present++
      else {
        const got = await orIssue(issues, get)
        if (got === null) issues.push(issue('upstream_lacks', { name, version }))
        if (got) fetched++
        bytes += got?.size ?? 0
      }
      progress('fetching .crate files', fetched + present, lines.size)
    },
    AT_ONCE,
  )
  return { fetched, present, bytes, issues }
}

/** Returns the result of some work; undefined when it was refused, which goes to the issues. */
async function orIssue<T>(issues: Issue[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    issues.push(...error.issues)
    return undefined
  }
}
