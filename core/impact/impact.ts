import { forEachConcurrently } from '../async/concurrently.ts'
import { canonicalName, type Name } from '../name.ts'
import { matcher, type Requirement } from '../requirement.ts'
import { highestVersion, isVersion, type Version } from '../version.ts'
import type { Dependent, Requiring } from './dependents.ts'

/** A version as the index lists it. */
export interface ListedVersion {
  readonly version: Version
  readonly yanked: boolean
}

/** A crate, or one that is taken from elsewhere: from whichever registry, its name tells it. */
export interface CrateId {
  readonly name: Name
  readonly isElsewhere: boolean
}

/** The crates that are here, and how they require others. */
export interface CrateGraph {
  /** Returns the versions of a crate; null if none is known here. */
  versions(crate: CrateId): Promise<readonly ListedVersion[] | null>
  /** Returns what requires a crate, in the ways that mean this one and no namesake. */
  dependents(crate: CrateId): Promise<readonly (CrateId & Pick<Dependent, 'requires'>)[]>
}

/** What has the hole: a crate, and which of its versions; `bounds` has where these begin and end. */
export interface Target {
  readonly crate: CrateId
  readonly isAffected: (version: Version) => boolean
  readonly bounds: string
}

/** `resolved`: what Cargo takes today, the newest version that fits; `possible`: any that fits. */
export const HOWS = ['resolved', 'possible'] as const
export type How = (typeof HOWS)[number]

/** A version that reaches the target, and the way to it: `NAME@VERSION`, itself first. */
export interface Reach {
  readonly crate: string
  readonly version: Version
  readonly how: How
  readonly kind: Requiring['kind']
  readonly path: readonly string[]
}

/** A version on a way, through the next one; null where no version is known. */
interface Step extends CrateId {
  readonly version: Version | null
  readonly kind: Requiring['kind']
  readonly next: Step | null
}

interface Node {
  readonly versions: readonly ListedVersion[] | null
  readonly dependents: Awaited<ReturnType<CrateGraph['dependents']>>
  readonly fits: Map<Requirement, Readonly<Record<How, ReadonlySet<Version>>>>
}

/**
 * Yields what reaches a target, each version once, by the strongest way: resolved before possible;
 * then normal dependencies before build ones, and dev-dependencies on the target itself last. Reads
 * each crate on the way once, and no other.
 */
export async function* findImpact(
  graph: CrateGraph,
  target: Target,
  hows: readonly How[] = HOWS,
): AsyncIterable<Reach> {
  const nodes = new Map<string, Promise<Node>>()
  const load = (crate: CrateId) => {
    const key = keyOf(crate)
    const node = nodes.get(key) ?? readNode(graph, crate)
    nodes.set(key, node)
    return node
  }
  const start: Step[] = []
  const { crate } = target
  for (const version of (await load(crate)).versions?.map(each => each.version) ?? [null])
    if (version === null || target.isAffected(version))
      start.push({ ...crate, version, kind: 'normal', next: null })
  const seen = new Set<string>()
  for (const how of hows) {
    for (const step of await reach(start, how, target, load)) {
      const { name, version, kind } = step
      const id = `${keyOf(step)}@${version}`
      if (version === null || seen.has(id)) continue
      seen.add(id)
      yield { crate: name, version, how, kind, path: pathOf(step) }
    }
  }
}

/** Returns all steps that reach the target in one way. */
async function reach(
  start: readonly Step[],
  how: How,
  target: Target,
  load: (crate: CrateId) => Promise<Node>,
): Promise<readonly Step[]> {
  const seen = new Set(start.map(step => `${keyOf(step)}@${step.version}`))
  let found: readonly Step[] = []
  const expand = async (level: readonly Step[], kinds: readonly string[], kind: Step['kind']) => {
    const next: Step[] = []
    await forEachConcurrently(level, load)
    for (const step of level) {
      const node = await load(step)
      for (const { name, isElsewhere, requires } of node.dependents) {
        const key = keyOf({ name, isElsewhere })
        for (const { kind: own, requirement, versions } of requires) {
          if (!kinds.includes(own) || !leadsTo(step, node, requirement, how, target)) continue
          for (const version of versions) {
            const id = `${key}@${version}`
            if (seen.has(id)) continue
            seen.add(id)
            next.push({ name, isElsewhere, version, kind, next: step })
          }
        }
      }
    }
    found = [...found, ...next]
    return next
  }
  for (let level = start; level.length > 0; ) level = await expand(level, ['normal'], 'normal')
  const all = ['normal', 'build']
  for (let level = [...start, ...found]; level.length > 0; )
    level = await expand(level, all, 'build')
  await expand(start, ['dev'], 'dev')
  return found
}

/** Returns whether a requirement leads to a version: the newest that fits, or any. */
function leadsTo(
  { version }: Step,
  { versions, fits }: Node,
  requirement: Requirement,
  how: How,
  target: Target,
): boolean {
  if (version === null || !versions) return how === 'possible' && mayTake(requirement, target)
  const known = fits.get(requirement)
  if (known) return known[how].has(version)
  const isIn = matcher(requirement)
  const all = versions.filter(each => isIn(each.version))
  const newest = highestVersion(all.filter(({ yanked }) => !yanked))
  const fit = {
    possible: new Set(all.map(each => each.version)),
    resolved: new Set(newest ? [newest.version] : []),
  }
  fits.set(requirement, fit)
  return fit[how].has(version)
}

/** Returns whether a requirement may take an affected version: where one begins, there both are. */
function mayTake(requirement: Requirement, { isAffected, bounds }: Target): boolean {
  const isIn = matcher(requirement)
  const starts = `0 ${bounds} ${requirement}`.match(/\d+(?:\.\d+){0,2}(?:-[\w.-]+)?/g) ?? []
  return starts.some(start => {
    const [major = 0, minor = 0, patch = 0] = start.split('-', 1).join('').split('.').map(Number)
    const whole = start.includes('-') ? start : `${major}.${minor}.${patch}`
    const next = [`${major}.${minor}.${patch + 1}`, `${major}.${minor + 1}.0`, `${major + 1}.0.0`]
    return [whole, ...next].some(each => isVersion(each) && isIn(each) && isAffected(each))
  })
}

async function readNode(graph: CrateGraph, crate: CrateId): Promise<Node> {
  const dependents = await graph.dependents(crate)
  // Only what others require is resolved by them.
  const versions = dependents.length > 0 ? await graph.versions(crate) : []
  return { versions, dependents, fits: new Map() }
}

function keyOf({ name, isElsewhere }: CrateId): string {
  return `${canonicalName(name)} ${isElsewhere}`
}

function pathOf(step: Step): string[] {
  const path: string[] = []
  for (let at: Step | null = step; at; at = at.next)
    path.push(at.version === null ? at.name : `${at.name}@${at.version}`)
  return path
}
