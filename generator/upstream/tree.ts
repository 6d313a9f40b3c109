import { isAbout } from '../../core/advisory/advisory.ts'
import { forEachConcurrently } from '../../core/async/concurrently.ts'
import type { LockedPackage } from '../../core/lock/lock-file.ts'
import { canonicalName, isName, type Name } from '../../core/name.ts'
import { configPath, INDEX_FOLDER, indexPath } from '../../core/paths/tree.ts'
import { KNOWN_FOLDER, releaseOfUpstreamPath, UPSTREAM_CRATES } from '../../core/paths/upstream.ts'
import { untilText } from '../../core/timestamp.ts'
import { deniedBy } from '../../core/upstream/policy.ts'
import { halfWritten } from '../places/disk/files.ts'
import type { FileInfo, Place } from '../places/place.ts'
import type { AdvisoryChange } from '../records/advisories/change.ts'
import { advisoriesIn } from '../records/advisories/read.ts'
import { originOf } from './decisions.ts'
import type { Upstream, UpstreamSource } from './upstream.ts'

/**
 * Renders the index files of everything that is kept of an upstream, for plain file servers;
 * offline, only of what has its `.crate` there. What is held depends on the time: `until` says when
 * the tree has to be rendered again.
 */
export async function renderUpstream(
  upstream: Upstream,
): Promise<{ readonly crates: number; readonly changed: number; readonly until: string | null }> {
  const { place } = upstream
  const old = new Set<string>()
  for await (const { path } of place.list(`${INDEX_FOLDER}/`)) old.add(path)
  let [changed, crates] = [0, 0]
  let until: number | null = null
  const write = async (path: string, bytes: Buffer) => {
    old.delete(path)
    const before = await place.read(path)
    if (before?.bytes.equals(bytes)) return
    await place.put(path, bytes)
    changed++
  }
  await write(configPath, Buffer.from(upstream.config(upstream.source.name)))
  await forEachConcurrently(await keptNames(upstream.source), async name => {
    const file = await upstream.keptIndexFile(name)
    if (!file || file.bytes.length === 0) return
    crates++
    if (file.until !== null && (until === null || file.until < until)) until = file.until
    await write(indexPath(name), file.bytes)
  })
  for (const path of old) {
    await place.remove(path)
    changed++
  }
  return { crates, changed, until: until === null ? null : untilText(until) }
}

/** Returns the names of all crates of which something is kept, in lowercase. */
export async function keptNames({ place }: UpstreamSource): Promise<Name[]> {
  const names: Name[] = []
  for await (const { path } of place.list(`${KNOWN_FOLDER}/`)) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (isName(name)) names.push(name)
  }
  return names
}

/** Yields the half-written files of killed processes in the folder of an upstream. */
export function halfWrittenIn(place: Place): AsyncIterable<string> | readonly string[] {
  return place.local ? halfWritten(place.name) : []
}

/**
 * Removes, unless `isTrial`, the `.crate` files that are not `locked` and have not changed since
 * `limit`, in milliseconds since 1970, if there is one, and the lines of crates of which no `.crate`
 * was ever here; returns them, their bytes and how many are `kept`. Other lines stay: they are what
 * a changed past is recognized by.
 */
export async function prune(
  { source }: Upstream,
  locked: readonly LockedPackage[],
  limit: number | null,
  isTrial: boolean,
): Promise<{ readonly paths: readonly string[]; readonly bytes: number; readonly kept: number }> {
  // The names of which there is a `.crate`, or that somebody needs.
  const used = new Set(locked.map(({ name }) => name.toLowerCase()))
  const staying = new Set(locked.map(({ name, version }) => `${name}@${version}`))
  const paths: string[] = []
  let [bytes, kept] = [0, 0]
  const sort = ({ path, size, changed }: FileInfo, mayGo: boolean) => {
    const isGoing = mayGo && (limit === null || changed < limit)
    if (isGoing) paths.push(path)
    if (isGoing) bytes += size
    else kept++
    return isGoing
  }
  const losing = new Set<Name>()
  for await (const file of source.place.list(UPSTREAM_CRATES)) {
    const release = releaseOfUpstreamPath(file.path)
    if (release) used.add(release.name.toLowerCase())
    const mayGo = release !== null && !staying.has(`${release.name}@${release.version}`)
    if (sort(file, mayGo) && release) losing.add(release.name)
  }
  for await (const file of source.place.list(`${KNOWN_FOLDER}/`)) {
    const name = file.path.slice(file.path.lastIndexOf('/') + 1)
    // Lines that stay are not counted: nobody asked about them.
    const mayGo = isName(name) && !used.has(name) && !(await source.index.kept(name))?.isUsed
    if (mayGo) sort(file, true)
  }
  if (isTrial) return { paths: paths.sort(), bytes, kept }
  for (const name of losing) await source.index.change(name, crate => ({ ...crate, isUsed: true }))
  for (const path of paths) await source.place.remove(path)
  return { paths: paths.sort(), bytes, kept }
}

/** Returns what of an upstream's `.crate` files here changed advisories would newly deny, as texts. */
export async function newlyDenied(
  upstream: Upstream,
  changes: readonly AdvisoryChange[],
): Promise<string[]> {
  if (['off', 'warn'].includes(upstream.settings.deny_advisories)) return []
  const now = changes.flatMap(({ content }) => advisoriesIn(content))
  const names = new Set(now.map(advisory => canonicalName(advisory.package)))
  const changed = new Set(changes.map(({ name }) => name))
  const { index, files } = upstream.source
  const denied: string[] = []
  for (const name of await keptNames(upstream.source)) {
    const crate = names.has(canonicalName(name)) ? await index.kept(name) : null
    if (!crate) continue
    const before = await upstream.policy(name)
    const { known, denies } = before.advisories
    const others = known.filter(({ id }) => !changed.has(id))
    const about = now.filter(advisory => isAbout(advisory, name, originOf(upstream.settings)))
    const after = { ...before, advisories: { denies, known: [...others, ...about] } }
    for (const line of crate.lines.values()) {
      const rule = deniedBy(line, after)
      const isNew = rule !== undefined && deniedBy(line, before) === undefined
      if (isNew && (await files.size(line)) !== null)
        denied.push(`${line.name}@${line.version} of ${upstream.name} (${rule})`)
    }
  }
  return denied
}
