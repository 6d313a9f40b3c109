// generator/impact: What reaches a crate, by the files of a tree and what is kept of upstreams. One
// command calls it; it changes nothing.
import type { Entry } from '../../core/entry/entry.ts'
import type { Dependent, DependentsFile, Requiring } from '../../core/impact/dependents.ts'
import type { CrateGraph, CrateId, ListedVersion } from '../../core/impact/impact.ts'
import { type CanonicalName, canonicalName, type Name } from '../../core/name.ts'
import { dependentsPath } from '../../core/paths/dependents.ts'
import { indexPath } from '../../core/paths/tree.ts'
import { releaseOfUpstreamPath, UPSTREAM_CRATES } from '../../core/paths/upstream.ts'
import type { Requirement } from '../../core/requirement.ts'
import type { Version } from '../../core/version.ts'
import type { Upstream } from '../upstream/upstream.ts'

/** Returns the text of a file of the public tree; null where there is none. */
export type ReadText = (path: string) => Promise<string | null>

type Required = CrateId & Pick<Dependent, 'requires'>

/** Opens the crates of a public tree, and those of upstreams whose `.crate` files are kept. */
export async function openGraph(
  read: ReadText,
  upstreams: readonly Upstream[],
): Promise<CrateGraph & { find(name: Name): Promise<CrateId> }> {
  const kept = await keptDependents(upstreams)
  const listed = async (name: Name) => versionsIn(await read(indexPath(name)))
  return {
    /** Returns the crate of a name, which users may spell otherwise than its index file. */
    async find(name) {
      for (const spelt of [name, name.replaceAll('-', '_'), name.replaceAll('_', '-')] as Name[])
        if (await listed(spelt)) return { name: spelt, isElsewhere: false }
      return { name, isElsewhere: true }
    },
    async versions({ name, isElsewhere }) {
      if (!isElsewhere) return listed(name)
      for (const upstream of upstreams) {
        const file = await upstream.keptIndexFile(name)
        if (file) return versionsIn(file.bytes.toString())
      }
      return null
    },
    async *dependents({ name, isElsewhere }) {
      // A crate that is not here is taken from a fallback, whatever the requirement says.
      const isMissing = isElsewhere && !(await listed(name))
      const means = ({ registry }: Requiring) => isMissing || (registry !== null) === isElsewhere
      for await (const all of readDependents(read, canonicalName(name))) {
        const own = all.flatMap(({ crate, requires }): Required[] => {
          const meant = requires.filter(means)
          return meant.length > 0 ? [{ name: crate, isElsewhere: false, requires: meant }] : []
        })
        if (own.length > 0) yield own
      }
      const others = isElsewhere ? kept.get(canonicalName(name)) : undefined
      if (others) yield others
    },
  }
}

function versionsIn(text: string | null): ListedVersion[] | null {
  const lines = text?.split('\n').filter(line => line !== '')
  return (
    lines?.map(line => {
      // Own lines begin so; the parser would take most of the time and the memory.
      const [, vers] = /^\{"name":"[\w-]+","vers":"([^"\\]+)"/.exec(line) ?? []
      if (vers !== undefined && !line.includes('"yanked":true'))
        return { version: vers as Version, yanked: false }
      const entry = JSON.parse(line)
      return { version: entry.vers, yanked: entry.yanked === true }
    }) ?? null
  )
}

/** Yields what requires a crate, file by file. */
async function* readDependents(read: ReadText, crate: CanonicalName) {
  const parse = async (shard?: number): Promise<DependentsFile> =>
    JSON.parse((await read(dependentsPath(crate, shard))) ?? '{"dependents":[]}')
  const head = await parse()
  if ('dependents' in head) yield head.dependents
  for (let shard = 0; 'shards' in head && shard < head.shards; shard++) {
    const file = await parse(shard)
    if ('dependents' in file) yield file.dependents
  }
}

/** Returns what the versions require whose `.crate` files are kept of upstreams, by its name. */
async function keptDependents(
  upstreams: readonly Upstream[],
): Promise<ReadonlyMap<CanonicalName, readonly Required[]>> {
  const required = new Map<CanonicalName, Required[]>()
  for (const upstream of upstreams) {
    const crates = new Map<Name, Set<Version>>()
    for await (const { path } of upstream.source.place.list(UPSTREAM_CRATES)) {
      const { name, version } = releaseOfUpstreamPath(path) ?? {}
      if (name && version) crates.set(name, (crates.get(name) ?? new Set()).add(version))
    }
    for (const [name, versions] of crates)
      for (const line of (await upstream.source.index.kept(name))?.lines.values() ?? [])
        for (const dep of versions.has(line.version) ? depsOf(line.text) : []) {
          const requirement = dep.req as Requirement
          const kind = dep.kind ?? 'normal'
          const way = { requirement, kind, registry: null, versions: [line.version] }
          const crate = canonicalName(dep.package ?? dep.name)
          const all = required.get(crate) ?? []
          required.set(crate, all)
          all.push({ name, isElsewhere: true, requires: [way] })
        }
  }
  return required
}

/** Returns the dependencies in a line that was accepted before. */
function depsOf(line: string): Entry['deps'] {
  return (JSON.parse(line) as Pick<Entry, 'deps'>).deps
}
