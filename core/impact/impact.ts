import { canonicalName, type Name } from '../name.ts'
import { matcher, type Requirement } from '../requirement.ts'
import { highestVersion, isVersion, parseVersion, type Version } from '../version.ts'
import type { Dependent, RequiringKind } from './dependents.ts'

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
  readonly kind: RequiringKind
  readonly path: readonly string[]
}

/** How versions of a crate reach the target: through a version of the next one; null: unknown. */
interface Step {
  readonly name: Name
  readonly kind: RequiringKind
  readonly next: Step | null
  readonly through: Version | null
}

/** A crate, and its versions that reach the target; null where no version is known. */
interface Reached {
  readonly crate: CrateId
  readonly steps: Map<Version | null, Step>
  /** Few crates are required at all, or as build dependencies: no others are asked once more. */
  isRequired: boolean
  isBuilder: boolean
}

/** Versions of a crate to go on from, and those of them that were not reached before. */
interface Front {
  readonly reached: Reached
  readonly versions: (Version | null)[]
  readonly fresh: (Version | null)[]
}

interface Search {
  readonly graph: CrateGraph
  readonly target: Target
  readonly end: Step
  readonly how: How
  readonly all: Map<string, Reached>
}

/** The kinds, the strongest first; who requires a version does not get the last two with it. */
const STRENGTH: readonly RequiringKind[] = ['normal', 'build', 'ships with', 'dev']

/** The kinds of dependencies that a search follows; steps are of the first one. */
type Kinds = readonly [RequiringKind, ...RequiringKind[]]

/**
 * Yields what reaches a target, each version once, by the strongest way: resolved before possible;
 * then normal dependencies, build ones, the target itself in a packaged `Cargo.lock`, and as a
 * dev-dependency. Asks for crates again and again, as not all of them may fit into memory.
 */
export async function* findImpact(
  graph: CrateGraph,
  target: Target,
  hows: readonly How[] = HOWS,
): AsyncIterable<Reach> {
  const { crate, isAffected } = target
  const all = new Map<string, Reached>()
  const end: Step = { name: crate.name, kind: 'normal', next: null, through: null }
  const reached = reachedIn(all, crate)
  for (const { version } of (await graph.versions(crate)) ?? [{ version: null }])
    if (version === null || isAffected(version)) reached.steps.set(version, end)
  const start = { reached, versions: [...reached.steps.keys()], fresh: [] }
  for (const how of hows) {
    const search = { graph, target, end, how, all }
    yield* walk(search, frontOf(all, 'normal'), ['normal'])
    const builders = frontOf(all, 'normal').filter(front => front.reached.isBuilder)
    yield* reachesOf(how, await expand(search, builders, ['build']))
    yield* walk(search, frontOf(all, 'build'), ['build', 'normal'])
    for (const kind of STRENGTH.slice(2))
      yield* reachesOf(how, await expand(search, [start], [kind]))
  }
}

function reachedIn(all: Search['all'], crate: CrateId): Reached {
  const key = `${canonicalName(crate.name)} ${crate.isElsewhere}`
  const reached = all.get(key) ?? { crate, steps: new Map(), isRequired: true, isBuilder: false }
  all.set(key, reached)
  return reached
}

/** Returns all versions that were reached by a kind. */
function frontOf(all: Search['all'], kind: RequiringKind): Front[] {
  const fronts = Array.from(all.values(), (reached): Front => {
    const ofKind = [...reached.steps].filter(([, step]) => step.kind === kind)
    return { reached, versions: ofKind.map(([version]) => version), fresh: [] }
  })
  return fronts.filter(({ versions }) => versions.length > 0)
}

async function* walk(search: Search, from: readonly Front[], kinds: Kinds): AsyncIterable<Reach> {
  for (let level = from; level.length > 0; ) {
    level = await expand(search, level, kinds)
    yield* reachesOf(search.how, level)
  }
}

function* reachesOf(how: How, level: readonly Front[]): Iterable<Reach> {
  for (const { reached, fresh } of level)
    for (const version of fresh) {
      const step = reached.steps.get(version)
      if (!step || version === null) continue
      yield { crate: step.name, version, how, kind: step.kind, path: pathOf(step, version) }
    }
}

/** Returns what requires the versions of a level, and was not reached as strongly before. */
async function expand(
  search: Search,
  level: readonly Front[],
  kinds: Kinds,
): Promise<readonly Front[]> {
  const { graph, how, all } = search
  const next = new Map<Reached, Front>()
  for (const front of level.filter(({ reached }) => reached.isRequired)) {
    front.reached.isRequired = false
    const ways = new Map<Requirement, ReturnType<typeof wayBy>>()
    let listed: Awaited<ReturnType<CrateGraph['versions']>> = null
    for await (const dependents of graph.dependents(front.reached.crate)) {
      front.reached.isRequired = true
      if (how === 'resolved') listed ??= await graph.versions(front.reached.crate)
      for (const { requires, ...crate } of dependents) {
        let by: Reached | null = null
        for (const { kind, requirement, versions } of requires) {
          if (kind === 'build') front.reached.isBuilder = true
          if (!kinds.includes(kind)) continue
          if (!ways.has(requirement))
            ways.set(requirement, wayBy(search, front, kinds, requirement, listed))
          const way = ways.get(requirement)
          if (!way) continue
          by ??= reachedIn(all, crate)
          add(next, by, versions, { ...way, name: by.crate.name })
        }
      }
    }
  }
  return [...next.values()]
}

/** Adds versions of a crate, unless they were reached as strongly. */
function add(
  next: Map<Reached, Front>,
  reached: Reached,
  versions: readonly Version[],
  step: Step,
): void {
  for (const version of versions) {
    const before = reached.steps.get(version)
    if (before && STRENGTH.indexOf(before.kind) <= STRENGTH.indexOf(step.kind)) continue
    reached.steps.set(version, step)
    const front = next.get(reached) ?? { reached, versions: [], fresh: [] }
    next.set(reached, front)
    front.versions.push(version)
    if (!before) front.fresh.push(version)
  }
}

/** Returns the step by which a requirement leads to a version: the newest that fits, or any. */
function wayBy(
  { target, end, how }: Search,
  { reached, versions }: Front,
  [kind]: Kinds,
  requirement: Requirement,
  listed: readonly ListedVersion[] | null,
): Omit<Step, 'name'> | null {
  if (kind === 'ships with') {
    const through = parseVersion(requirement.slice(1))
    return target.isAffected(through) ? { kind, next: end, through } : null
  }
  const isIn = matcher(requirement)
  const fitting = listed?.filter(({ version, yanked }) => !yanked && isIn(version)) ?? []
  const newest = highestVersion(fitting)?.version
  const leads = (version: Version | null) =>
    version === null ? mayTake(requirement, target) : isIn(version)
  const through = versions.find(how === 'possible' ? leads : version => version === newest)
  return through === undefined ? null : { kind, next: reached.steps.get(through) ?? end, through }
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

function pathOf(step: Step, version: Version): string[] {
  const path = [`${step.name}@${version}`]
  for (let { next, through } = step; next; { next, through } = next)
    path.push(through === null ? next.name : `${next.name}@${through}`)
  return path
}
