import { isDeepStrictEqual } from 'node:util'
import { compareText, type Dependency, type Entry } from '../core/entry/entry.ts'
import { collect, type Issue, refusalOnly } from '../core/error/error.ts'
import type { Name } from '../core/name.ts'
import { readPublished } from '../core/release/published.ts'
import { entryOf } from '../core/release/release.ts'
import { meaning, parseRequirement } from '../core/requirement.ts'
import { printTarget } from '../core/target.ts'
import type { Version } from '../core/version.ts'
import type { CheckRun, Probe } from './probes.ts'
import { untried, wrong } from './verdict.ts'

/** A release as its line has it, and as its `.crate` does: null if that cannot be read. */
export interface Content {
  readonly line: Entry
  readonly packaged: Entry | null
  readonly errors: readonly Issue[]
}

/** Reads a `.crate` as Cargo does. Both entries are written in one way, and without dev-dependencies. */
export async function inspect(run: CheckRun, line: Entry, bytes: Buffer): Promise<Content> {
  const open = async function* () {
    yield bytes
  }
  const identity = { name: line.name as Name, version: line.vers as Version }
  try {
    const { parsed, odd } = await readPublished(open, identity, bytes.length)
    const own = new Set([run.target.name])
    const packaged = parsed && plain(entryOf(parsed, line.cksum, null, own))
    return {
      line: plain(line),
      packaged,
      errors: odd.filter(({ code }) => code === 'archive_type'),
    }
  } catch (error) {
    return { line: plain(line), packaged: null, errors: refusalOnly(error).issues }
  }
}

/** States that no archive has an error with such a code. */
export function free(contents: Probe<readonly Content[]>, codes: RegExp) {
  return async (run: CheckRun): Promise<void> => {
    for (const { line, errors } of await contents(run)) {
      const error = errors.find(({ code }) => codes.test(code))
      if (error) wrong(`${line.name} ${line.vers}: ${error.message}`)
    }
  }
}

/** States that lines have a part as Cargo.toml has it. */
export function same(contents: Probe<readonly Content[]>, part: (entry: Entry) => unknown) {
  return async (run: CheckRun): Promise<void> => {
    const all = (await contents(run)).filter(({ packaged }) => packaged !== null)
    if (all.length === 0) untried('no Cargo.toml can be read')
    for (const { line, packaged } of all) {
      const [said, packagedPart] = [part(line), packaged && part(packaged)]
      const words = `${JSON.stringify(said)}, Cargo.toml ${JSON.stringify(packagedPart)}`
      if (!isDeepStrictEqual(said, packagedPart))
        wrong(`${line.name} ${line.vers}: the line has ${words}`)
    }
  }
}

function plain(entry: Entry): Entry {
  const deps = entry.deps.flatMap(({ target, ...dep }) => {
    if (dep.kind === 'dev') return []
    const req = collect([], () => meaning(parseRequirement(dep.req))) ?? dep.req
    return [
      {
        ...{ ...dep, req, target: target && printTarget(target), package: dep.package ?? dep.name },
        features: dep.features.toSorted(),
      },
    ]
  })
  const features = Object.entries(entry.features).map(([name, all]) => [name, [...all].sort()])
  return {
    ...entry,
    deps: deps.sort((a, b) => compareText(orderOf(a), orderOf(b))),
    features: Object.fromEntries(features.sort()),
    // 1.60 and 1.60.0 are one version of Rust.
    rust_version: entry.rust_version?.replace(/^(\d+\.\d+)\.0$/, '$1') as Entry['rust_version'],
  }
}

/** The order of dependencies: the same when a line has exchanged the two names of one. */
function orderOf(dep: Dependency): string {
  const { name, package: real, kind, target, req } = dep
  return JSON.stringify([[name, real].sort(), kind, target, req, dep])
}
