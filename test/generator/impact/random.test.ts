// Mirrors generator/impact and core/impact/impact.ts: compared with an answer that follows each
// version forward, from every crate, without an index of dependents.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dependency, DependencyKind } from '../../../core/entry/entry.ts'
import { findImpact, HOWS, type How } from '../../../core/impact/impact.ts'
import { canonicalName, type Name } from '../../../core/name.ts'
import { indexPath } from '../../../core/paths/tree.ts'
import type { Requirement } from '../../../core/requirement.ts'
import { satisfies } from '../../../core/requirement.ts'
import { parseRule } from '../../../core/upstream/rules.ts'
import { compareVersions, type Version } from '../../../core/version.ts'
import { openGraph } from '../../../generator/impact/graph.ts'
import { Random } from '../../support/random.ts'
import { dependency, entry } from '../../support/release.ts'

const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'
const NAMES = ['alpha', 'Beta-x', 'gam_ma', 'delta', 'eps', 'zeta', 'eta'] as Name[]
/** Only elsewhere, or here as well. */
const FOREIGN = ['ext-lib', 'ext2', 'alpha', 'delta'] as Name[]
const VERSIONS = '0.1.0 0.1.4 0.2.0-rc.1 1.0.0-alpha 1.0.0 1.1.0 1.2.0 1.2.1+b 2.0.0-beta.1 2.0.0'
const REQS =
  '^0.1 =0.1.4 ^1 ^1.1 ~1.0 =1.0.0 * <2 >=1.0.0-alpha >1.1 ^2.0.0-beta.1 >=1,<1.2 1.* >0.1.0,<=1.0.0'.split(
    ' ',
  )
const KINDS = ['normal', 'normal', 'normal', 'build', 'dev'] as const

interface Line {
  readonly name: Name
  readonly version: Version
  readonly yanked: boolean
  readonly deps: readonly Dependency[]
  /** What its packaged lock file names. */
  readonly locked: readonly { readonly name: Name; readonly version: Version; own: boolean }[]
}

const spelt = (name: string, random: Random) =>
  random.below(3) === 0 ? name.toLowerCase().replace('-', '_') : name

function lines(random: Random): Line[] {
  const names = NAMES.slice(0, 3 + random.below(NAMES.length - 2))
  const dep = (): Dependency => {
    const isForeign = random.below(5) === 0
    const name = spelt(random.pick(isForeign ? FOREIGN : names), random)
    return dependency(random.below(6) === 0 ? `re_${name}` : name, random.pick(REQS), {
      kind: random.pick(KINDS) as DependencyKind,
      registry: isForeign ? CRATES_IO : null,
      package: name,
    })
  }
  return names.flatMap(name =>
    VERSIONS.split(' ')
      .filter(() => random.below(2) === 0)
      .map(version => ({
        ...{ name, version: version as Version, yanked: random.below(4) === 0 },
        deps: Array.from({ length: random.below(4) }, dep),
        locked: Array.from({ length: random.below(2) }, () => {
          const [own, locked] = [random.below(4) > 0, random.pick(VERSIONS.split(' '))]
          return { name: random.pick(own ? names : FOREIGN), version: locked as Version, own }
        }),
      })),
  )
}

/** The files of a tree with these lines, as far as the answer needs them. */
function filesOf(all: readonly Line[]): Map<string, string> {
  const files = new Map<string, string>()
  const found = new Map<string, Map<Name, object[]>>()
  for (const { name, version, yanked, deps, locked } of all) {
    const path = indexPath(name)
    const line = JSON.stringify(entry({ name, vers: version, yanked, deps }))
    files.set(path, `${files.get(path) ?? ''}${line}\n`)
    const shipped = locked.map(each => {
      const registry = each.own ? null : CRATES_IO
      return { req: `=${each.version}`, kind: 'ships with', registry, package: each.name }
    })
    for (const { req: requirement, kind, registry, package: real } of [...deps, ...shipped]) {
      const crates = found.get(canonicalName(real ?? '')) ?? new Map<Name, object[]>()
      found.set(canonicalName(real ?? ''), crates)
      const ways = crates.get(name) ?? []
      crates.set(name, [...ways, { requirement, kind, registry, versions: [version] }])
    }
  }
  for (const [crate, crates] of found) {
    const dependents = Array.from(crates, ([name, requires]) => ({ crate: name, requires }))
    files.set(`dependents/${crate}/all.json`, JSON.stringify({ dependents }))
  }
  return files
}

/** `CRATE@VERSION HOW KIND` of everything that reaches a crate, sorted. */
function expected(all: readonly Line[], target: Name, isBad: (v: Version) => boolean): string[] {
  const isHere = all.some(({ name }) => canonicalName(name) === canonicalName(target))
  const answers = (line: Line, how: How, allowed: readonly string[]): boolean => {
    const visited = new Set<Line>()
    const leads = (from: Line): boolean => {
      if (visited.has(from)) return false
      visited.add(from)
      return from.deps.some(dep => {
        if (!allowed.includes(dep.kind)) return false
        return leadsOn(dep, how, next => isOne(next) || leads(next))
      })
    }
    return leads(line)
  }
  const isOne = ({ name, version }: Line) =>
    isHere && canonicalName(name) === canonicalName(target) && isBad(version)
  const leadsOn = (dep: Dependency, how: How, leads: (line: Line) => boolean): boolean => {
    const real = canonicalName(dep.package ?? '')
    const req = dep.req as Requirement
    if (dep.registry !== null || (!isHere && real === canonicalName(target)))
      return (
        !isHere &&
        real === canonicalName(target) &&
        how === 'possible' &&
        GRID.some(version => satisfies(req, version) && isBad(version))
      )
    const fitting = all.filter(
      ({ name, version }) => canonicalName(name) === real && satisfies(req, version),
    )
    if (how === 'possible') return fitting.some(leads)
    const [newest] = fitting
      .filter(({ yanked }) => !yanked)
      .sort((a, b) => compareVersions(b.version, a.version))
    return newest !== undefined && leads(newest)
  }
  return all
    .flatMap(line => {
      if (isOne(line)) return []
      for (const how of HOWS) {
        if (answers(line, how, ['normal'])) return `${line.name}@${line.version} ${how} normal`
        if (answers(line, how, ['normal', 'build']))
          return `${line.name}@${line.version} ${how} build`
        const ships = line.locked.some(
          ({ name, version, own }) =>
            canonicalName(name) === canonicalName(target) && (own || !isHere) && isBad(version),
        )
        if (ships) return `${line.name}@${line.version} ${how} ships with`
        const dev = line.deps.filter(({ kind }) => kind === 'dev')
        if (dev.some(dep => leadsOn(dep, how, isOne)))
          return `${line.name}@${line.version} ${how} dev`
      }
      return []
    })
    .sort()
}

/** Versions that may be anywhere. */
const GRID = [0, 1, 2, 3].flatMap(major =>
  [0, 1, 2, 3].flatMap(minor =>
    [0, 1, 2, 4, 5].flatMap(patch => {
      const version = `${major}.${minor}.${patch}`
      return [version, `${version}-alpha`, `${version}-beta.1`, `${version}-rc.1`] as Version[]
    }),
  ),
)

test('200 random graphs', async () => {
  let reached = 0
  for (let seed = 1; seed <= 200; seed++) {
    const random = new Random(seed)
    const all = lines(random)
    const files = filesOf(all)
    const graph = await openGraph(async path => files.get(path) ?? null, [])
    const target = random.pick([...NAMES, ...FOREIGN])
    const requirement = random.pick([...REQS, '1.0.0', '<1.0.0-beta', '>=2.0.0-alpha'])
    const spec = random.below(4) === 0 ? target : `${target}@${requirement}`
    const rule = parseRule(spec, 'deny')
    const isAffected = (version: Version) => rule?.matches(target, version) ?? false
    const crate = await graph.find(spelt(target, random) as Name)
    const found: string[] = []
    for await (const reach of findImpact(graph, { crate, isAffected, bounds: spec })) {
      found.push(`${reach.crate}@${reach.version} ${reach.how} ${reach.kind}`)
      if (reach.kind === 'ships with') assert.match(reach.path.join(), /^[^,]+@[^,]+,[^,]+@[^,]+$/)
      else checkPath(reach.path, reach.how, all)
    }
    assert.deepEqual(found.sort(), expected(all, target, isAffected), `seed ${seed}: ${spec}`)
    reached += found.length
  }
  assert.ok(reached > 800, `${reached} versions were reached`)
})

/** Each step of a path is a dependency that fits; between crates of which versions are known. */
function checkPath(path: readonly string[], how: How, all: readonly Line[]): void {
  for (const [at, text] of path.entries()) {
    const next = path[at + 1]
    if (next === undefined) return
    const [name, version] = text.split('@')
    const [real = '', wanted] = next.split('@')
    const line = all.find(each => each.name === name && each.version === version)
    const isStep = (dep: Dependency) => {
      if (canonicalName(dep.package ?? '') !== canonicalName(real)) return false
      if (wanted === undefined) return how === 'possible'
      return satisfies(dep.req as Requirement, wanted as Version)
    }
    assert.ok(line?.deps.some(isStep), `${text} to ${next}`)
  }
}
