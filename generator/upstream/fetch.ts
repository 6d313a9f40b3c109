import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { type Issue, issue, Refusal } from '../../core/error/error.ts'
import type { LockedPackage } from '../../core/lock/lock-file.ts'
import type { Name } from '../../core/name.ts'
import { type Requirement, satisfies } from '../../core/requirement.ts'
import { needsOf, type UpstreamLine } from '../../core/upstream/line.ts'
import { highestVersion } from '../../core/version.ts'
import type { Progress } from '../projections/context.ts'
import type { Upstream } from './upstream.ts'

interface WantedCrate {
  readonly name: Name
  readonly requirement: Requirement
}

/** The most versions of one closure; more are no project's dependencies. */
const CLOSURE_MAX = 20_000

/**
 * Has here the packages of lock files, each with the checksum that the lock file names, and crates
 * with everything that they need: of each requirement the newest version that is shown, without
 * development dependencies. Returns how many versions were fetched, and how many were here before.
 */
export async function fetchAhead(
  upstream: Upstream,
  locked: readonly LockedPackage[],
  wanted: readonly WantedCrate[],
  progress: Progress,
) {
  const issues: Issue[] = []
  const lines = new Map<string, UpstreamLine>()
  const take = async (finding: Promise<UpstreamLine | null>, missing: Issue) => {
    const line = await orIssue(issues, finding, missing)
    if (line) lines.set(`${line.name}@${line.version}`, line)
    return line
  }
  await forEachConcurrently(locked, async ({ name, version, checksum }) => {
    const missing = issue('upstream_version_unknown', { name, version })
    await take(upstream.line({ name, version, cksum: checksum }), missing)
    progress('reading index files', lines.size, locked.length)
  })
  const meant = new Set(wanted.map(({ name }) => name))
  const asked = new Set<string>()
  let next = wanted
  while (next.length > 0 && lines.size <= CLOSURE_MAX) {
    const needed: WantedCrate[] = []
    await forEachConcurrently(next, async ({ name, requirement }) => {
      const missing = issue('upstream_requirement', { name, requirement })
      const line = await take(newest(upstream, name, requirement, meant.has(name)), missing)
      if (line) needed.push(...needsOf(line))
    })
    progress('reading index files', lines.size, 0)
    next = needed.filter(({ name, requirement }) => {
      const key = `${name} ${requirement}`
      return !asked.has(key) && asked.add(key)
    })
  }
  if (next.length > 0) issues.push(issue('upstream_closure', { max: CLOSURE_MAX }))
  let [fetched, present, bytes] = [0, 0, 0]
  await forEachConcurrently(lines.values(), async line => {
    const { name, version } = line
    if ((await upstream.source.files.size(line)) !== null) present++
    else {
      const missing = issue('upstream_lacks', { name, version })
      const got = await orIssue(issues, upstream.crateFile(line, true), missing)
      if (got) fetched++
      bytes += got?.size ?? 0
    }
    progress('fetching .crate files', fetched + present, lines.size)
  })
  return { fetched, present, bytes, issues }
}

async function newest(
  upstream: Upstream,
  name: Name,
  requirement: Requirement,
  isMeant: boolean,
): Promise<UpstreamLine | null> {
  const shown = ((await upstream.explain(name, isMeant)) ?? []).filter(
    ({ state }) => state === 'shown' || state === 'guarded',
  )
  const best = highestVersion(shown.filter(({ version }) => satisfies(requirement, version)))
  return best ? upstream.line({ ...best, cksum: null }) : null
}

/** Returns the result of a search; adds `missing`, or the issues of its refusal, if it has none. */
async function orIssue<T>(issues: Issue[], finding: Promise<T | null>, missing: Issue) {
  try {
    const result = await finding
    if (result === null) issues.push(missing)
    return result
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    issues.push(...error.issues)
    return null
  }
}
