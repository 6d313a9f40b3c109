import { collect } from '../../../core/error/error.ts'
import { isAlias } from '../../../core/name.ts'
import { isTexts } from '../../../core/plain-data.ts'
import { parseRequirement } from '../../../core/requirement.ts'
import { isTarget } from '../../../core/target.ts'
import { CRATES_IO, isCratesIo, isIndexUrl } from '../../../core/urls/urls.ts'
import { fact } from '../subject.ts'
import { book, cargo, dependencies, isText, maybe, Table, text } from '../table.ts'

const FORMAT = book('registry-index.html#index-files')

const isName = text(isAlias)
const isReq = text(value => collect([], () => parseRequirement(value)) !== undefined)
const isFlag = (value: unknown = false) => typeof value === 'boolean'
const isList = (value: unknown = []) => isTexts(value)
const isKind = text(kind => /^(?:normal|build|dev)$/.test(kind))
const isRegistry = maybe(text(isIndexUrl))
const isPlain = (url: unknown) => !isText(url) || !isCratesIo(url) || url === CRATES_IO

/** Dependencies that have this registry under its own address. */
const aliens = fact(async subject => {
  const { name } = subject.target
  return (await dependencies(subject)).filter(({ json }) => json.registry === name)
})

/** The dependencies of a line. */
export const dependencyRows = [
  new Table(FORMAT, 'breaks builds')
    .key('dep-name', '`name` of a dependency is a name: Cargo stops at an empty one', isName)
    .key('dep-req', '`req` is a requirement that Cargo reads: `^1.0`, `>=1, <2`', isReq)
    .key('dep-features', '`features` of a dependency is a list of texts', isList)
    .row('dep-optional', '`optional` and `default_features` are true or false')
    .each(dependencies, ({ json }) => isFlag(json.optional) && isFlag(json.default_features))
    .key('dep-target', '`target` is null, a target or a `cfg(…)`', maybe(text(isTarget)))
    .key('dep-registry', '`registry` is null or the address of an index, no name', isRegistry)
    .key('dep-package', '`package` is null or a name and not empty', maybe(isName)),
  new Table(cargo('src/cargo/sources/registry/index/mod.rs'), 'breaks builds')
    .row('dep-dev-optional', 'no dev-dependency is optional')
    .each(dependencies, ({ json }) => json.kind !== 'dev' || json.optional !== true),
  new Table(FORMAT, 'differs')
    .key('dep-kind', '`kind` is normal, build or dev', isKind)
    .row('dep-all', '`features` and `default_features` are there: Cargo before 1.84 needs them')
    .each(dependencies, ({ json }) => 'features' in json && 'default_features' in json)
    .key('dep-crates-io', 'crates.io has its git address as `registry`', isPlain, 'registry')
    .row('dep-own', '`registry` is null for this registry, so that it can move')
    .each(aliens, () => false),
]
