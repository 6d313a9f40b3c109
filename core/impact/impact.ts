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
  /** Yields what requires a crate, some at a time, in the ways that mean this one and no namesake. */
  dependents(crate: CrateId): AsyncIterable<readonly (CrateId & Pick<Dependent, 'requires'>)[]>
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
interface Step {
  readonly name: Name
  readonly version: Version | null
  readonly kind: Requiring['kind']
  readonly next: Step | null
}

/** Steps of one crate. */
interface Steps {
  readonly crate: CrateId
  readonly steps: Step[]
}

interface Node {
  readonly versions: readonly ListedVersion[] | null
  readonly fits: Map<Requirement, Readonly<Record<How, ReadonlySet<Version>>>>
}

type Load = (crate: CrateId) => Promise<Node>

/** Versions by the keys of their crates. */
type Versions = Map<string, Set<Version | null>>

function versionsOf(listed: Versions, crate: CrateId): Set<Version | null> {
  const versions = listed.get(keyOf(crate)) ?? new Set()
  listed.set(keyOf(crate), versions)
  return versions
}

/**
 * Yields what reaches a target, each version once, by the strongest way: resolved before possible;
 * then normal dependencies before build ones, and dev-dependencies on the target itself last. Asks
 * for what requires a crate several times, for its versions once.
 */
export async function* findImpact(
  graph: CrateGraph,
  target: Target,
  hows: readonly How[] = HOWS,
): AsyncIterable<Reach> {
  const nodes = new Map<string, Node>()
  const load = async (crate: CrateId) => {
    const key = keyOf(crate)
    const node = nodes.get(key) ?? { versions: await graph.versions(crate), fits: new Map() }
    nodes.set(key, node)
    return node
  }
  const { crate, isAffected } = target
  const all = (await load(crate)).versions?.map(({ version }) => version) ?? [null]
  const affected = all.filter(version => version === null || isAffected(version))
  const steps = affected.map((version): Step => {
    return { name: crate.name, version, kind: 'normal', next: null }
  })
  const listed: Versions = new Map([[keyOf(crate), new Set(affected)]])
  for (const how of hows)
    for (const { crate: by, steps: reached } of await reach(
      { crate, steps },
      how,
      target,
      graph,
      load,
    ))
      for (const step of reached) {
        const { name, version, kind } = step
        const told = versionsOf(listed, by)
        if (version === null || told.has(version)) continue
        told.add(version)
        yield { crate: name, version, how, kind, path: pathOf(step) }
      }
}

/** Returns all steps that lead to the first ones in one way, with these. */
async function reach(
  start: Steps,
  how: How,
  target: Target,
  graph: CrateGraph,
  load: Load,
): Promise<Steps[]> {
  const seen: Versions = new Map()
  for (const { version } of start.steps) versionsOf(seen, start.crate).add(version)
  const chain = [start]
  // Few crates are build dependencies: nobody else is asked once more for these.
  const builders = new Set<string>()
  const expand = async (level: readonly Steps[], kinds: readonly string[], kind: Step['kind']) => {
    const next = new Map<string, Steps>()
    for (const { crate, steps } of level)
      for await (const dependents of graph.dependents(crate)) {
        const node = await load(crate)
        const leads = (requirement: Requirement) =>
          steps.find(step => leadsTo(step, node, requirement, how, target)) ?? null
        for (const { requires, ...dependent } of dependents)
          for (const { kind: own, requirement, versions } of requires) {
            if (own === 'build') builders.add(keyOf(crate))
            const way = kinds.includes(own) ? leads(requirement) : null
            if (way === null) continue
            const before = versionsOf(seen, dependent)
            const come = next.get(keyOf(dependent)) ?? { crate: dependent, steps: [] }
            for (const version of versions) {
              if (before.has(version)) continue
              before.add(version)
              come.steps.push({ name: dependent.name, version, kind, next: way })
            }
            if (come.steps.length > 0) next.set(keyOf(dependent), come)
          }
      }
    for (const steps of next.values()) chain.push(steps)
    return [...next.values()]
  }
  for (let level = [start]; level.length > 0; ) level = await expand(level, ['normal'], 'normal')
  const built = chain.filter(({ crate }) => builders.has(keyOf(crate)))
  let level = await expand(built, ['build'], 'build')
  while (level.length > 0) level = await expand(level, ['normal', 'build'], 'build')
  await expand([start], ['dev'], 'dev')
  return chain
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
  const before = fits.get(requirement)
  if (before) return before[how].has(version)
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

function keyOf({ name, isElsewhere }: CrateId): string {
  return `${canonicalName(name)} ${isElsewhere}`
}

function pathOf(step: Step): string[] {
  const path: string[] = []
  for (let at: Step | null = step; at; at = at.next)
    path.push(at.version === null ? at.name : `${at.name}@${at.version}`)
  return path
}
