import { collect } from '../../../core/error/error.ts'
import { isAlias } from '../../../core/name.ts'
import { isTexts } from '../../../core/plain-data.ts'
import { parseRequirement, satisfies } from '../../../core/requirement.ts'
import { isTarget } from '../../../core/target.ts'
import { CRATES_IO, isCratesIo, isIndexUrl } from '../../../core/urls/urls.ts'
import type { Version } from '../../../core/version.ts'
import { fact, lines, readCrate } from '../subject.ts'
import { book, cargo, dependencies, isText, maybe, Table, text } from '../table.ts'
import { untried } from '../verdict.ts'

const FORMAT = book('registry-index.html#index-files')
const READER = cargo('src/cargo/sources/registry/index/mod.rs')

const isFlag = (value: unknown) => typeof value === 'boolean'
const isRequirement = text(value => collect([], () => parseRequirement(value)) !== undefined)

/** How many names of dependencies are looked for. */
const FOUND_MAX = 40

/** What each dependency on this registry needs, and the versions that are there. */
const needs = fact(async subject => {
  const wanted = new Map<string, { crate: string; name: string; req: string }>()
  for (const { crate, entry } of await lines(subject))
    for (const { registry, kind, package: real, name, req } of entry?.yanked
      ? []
      : (entry?.deps ?? []))
      if (registry === null && kind !== 'dev')
        wanted.set(`${real ?? name} ${req}`, { crate, name: real ?? name, req })
  if (wanted.size === 0) untried('no crate depends on another here')
  return Promise.all(
    [...wanted.values()].slice(0, FOUND_MAX).map(async need => {
      const { answer, lines } = await readCrate(subject, need.name)
      const versions = lines.flatMap(line => line.entry?.vers ?? [])
      const isMet = versions.some(vers => satisfies(parseRequirement(need.req), vers as Version))
      return { ...need, status: answer.status, isMet }
    }),
  )
})

/** Dependencies that have this registry under its own address. */
const aliens = fact(async subject => {
  const own = (registry: unknown) => isText(registry) && registry === subject.target.name
  return (await dependencies(subject))
    .filter(({ json }) => own(json.registry))
    .map(({ json }) => json)
})

/** The dependencies of a line. */
export const dependencyRows = [
  new Table({ source: FORMAT, weight: 'breaks builds' })
    .row('dep-name', '`name` of a dependency is a name and not empty: Cargo stops at an empty one')
    .dep('name', text(isAlias))
    .row('dep-req', '`req` is a requirement that Cargo reads: `^1.0`, `>=1, <2`')
    .dep('req', isRequirement)
    .row('dep-features', '`features` of a dependency is a list of texts')
    .dep('features', value => value === undefined || isTexts(value))
    .row('dep-optional', '`optional` is true or false')
    .dep('optional', value => value === undefined || isFlag(value))
    .row('dep-default-features', '`default_features` is true or false')
    .dep('default_features', value => value === undefined || isFlag(value))
    .row('dep-target', '`target` is null, a target or a `cfg(…)` that Cargo reads')
    .dep('target', maybe(text(isTarget)))
    .row('dep-registry', '`registry` is null or the address of an index, and no name of a registry')
    .dep('registry', maybe(text(isIndexUrl)))
    .row('dep-package', '`package` is null or a name and not empty')
    .dep('package', maybe(text(isAlias))),
  new Table({ source: READER, weight: 'breaks builds' })
    .row('dep-dev-optional', 'no dev-dependency is optional')
    .dep('optional', (optional, { kind }) => kind !== 'dev' || optional !== true)
    .row('dep-artifact', '`artifact` is a list of texts or absent')
    .dep('artifact', maybe(isTexts))
    .row('dep-bindep-target', '`bindep_target` is a text or absent')
    .dep('bindep_target', maybe(isText))
    .row('dep-lib', '`lib` is true, false or absent')
    .dep('lib', value => value === undefined || isFlag(value))
    .row('dep-public', '`public` is true, false or absent')
    .dep('public', maybe(isFlag))
    .row('dep-found', 'the crate of each dependency on this registry is in the index')
    .each(needs, ({ status }) => status === 200)
    .row('dep-met', 'a version is there that meets each dependency on this registry')
    .each(needs, ({ isMet }) => isMet),
  new Table({ source: FORMAT, weight: 'differs' })
    .row('dep-kind', '`kind` is normal, build or dev')
    .dep('kind', kind => ['normal', 'build', 'dev'].includes(String(kind)))
    .row(
      'dep-all',
      '`features`, `optional` and `default_features` are there: Cargo before 1.84 needs them',
    )
    .dep('default_features', (value, { features, optional }) =>
      [value, features, optional].every(each => each !== undefined),
    )
    .row('dep-crates-io', 'crates.io has its git address as `registry`')
    .dep(
      'registry',
      registry => !isText(registry) || !isCratesIo(registry) || registry === CRATES_IO,
    )
    .row('dep-own', '`registry` is null for this registry, so that it can move')
    .that(aliens, registries => registries.length === 0),
]
