import type { Issue } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { policyQuestions } from '../../../core/policy/policy.ts'
import { compareVersions, type Version } from '../../../core/version.ts'
import { unreadable } from '../../places/disk/crate-files.ts'
import { fileChecksum, fileStats } from '../../places/disk/files.ts'
import type { Progress } from '../../projections/context.ts'
import type { Registry } from '../registry.ts'
import { inspect } from './check.ts'

/** A `.crate` file to add in a batch; a broken one has no name. */
export interface BatchItem {
  readonly path: string
  readonly name: Name | null
  readonly version: Version | null
}

interface Member {
  readonly path: string
  readonly name: Name
  readonly version: Version
  readonly needs: readonly Name[]
}

/**
 * Sorts `.crate` files so that they can be added: dependencies first, the versions of a crate by
 * SemVer, broken files last. Crates that need each other, as tests may, are adjacent.
 */
export async function orderBatch(
  registry: Registry,
  paths: readonly string[],
  progress?: Progress,
): Promise<BatchItem[]> {
  const broken: BatchItem[] = []
  const crates = new Map<Name, Member[]>()
  for (const [done, path] of paths.entries()) {
    progress?.('reading .crate files', done, paths.length)
    const member = await look(registry, path)
    if (!member) broken.push({ path, name: null, version: null })
    else crates.set(member.name, [...(crates.get(member.name) ?? []), member])
  }
  const ordered = byNeed(crates, members => members.flatMap(member => member.needs))
  const byVersion = (a: Member, b: Member) => compareVersions(a.version, b.version)
  return [...ordered.flatMap(members => members.sort(byVersion)), ...broken]
}

/** Orders crates so that each comes after those that it needs, except where they need each other. */
export function byNeed<Crate>(
  crates: ReadonlyMap<Name, Crate>,
  needsOf: (crate: Crate) => readonly Name[],
): Crate[] {
  const ordered: Crate[] = []
  const begun = new Set<Name>()
  // No recursion: a chain of dependencies could overflow the stack.
  const open = [...crates.keys()].reverse().map(name => ({ name, isDone: false }))
  for (let next = open.pop(); next; next = open.pop()) {
    const { name, isDone } = next
    const crate = crates.get(name)
    if (isDone && crate) ordered.push(crate)
    if (isDone || !crate || begun.has(name)) continue
    begun.add(name)
    const needs = needsOf(crate).map(need => ({ name: need, isDone: false }))
    open.push({ name, isDone: true }, ...needs)
  }
  return ordered
}

async function look(registry: Registry, path: string): Promise<Member | null> {
  // Adding it reports what is wrong with it.
  if (await unreadable(path)) return null
  const stats = await fileStats(path)
  if (!stats || stats.size > registry.settings.limits.crate_bytes) return null
  const cksum = await fileChecksum(path)
  if (cksum === null) return null
  const bytes = { content: path, size: stats.size, cksum }
  const issues: Issue[] = []
  const release = await inspect({ bytes, pubtime: null }, registry.settings, registry.urls, issues)
  if (!release) return null
  const { name, version } = release
  return { path, name, version, needs: policyQuestions(release).ownDependencies }
}
