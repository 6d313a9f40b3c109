import { checkFeatures } from '../../core/entry/features.ts'
import { repeatedKey } from '../../core/entry/parse.ts'
import { collect } from '../../core/error/error.ts'
import { CRATES_IO, isCratesIo, isIndexUrl } from '../../core/index-url.ts'
import { isAlias } from '../../core/name.ts'
import { isObject, isTexts } from '../../core/plain-data.ts'
import { parseRequirement } from '../../core/requirement.ts'
import { isTarget } from '../../core/target.ts'
import { isPubtime } from '../../core/timestamp.ts'
import { isRustVersion, isVersion, type Version, versionIdentity } from '../../core/version.ts'
import { textOf } from '../answer.ts'
import { crates, lines, probe } from '../probes.ts'
import { book, cargo, dependencies, isText, isU32, maybe, Table, text } from '../table.ts'

const FORMAT = book('registry-index.html#index-files')
const READER = cargo('src/cargo/sources/registry/index/mod.rs')

const isFlag = (value: unknown = false) => typeof value === 'boolean'
const isMap = (value: unknown) => isObject(value) && Object.values(value).every(isTexts)
const isList = (value: unknown) => Array.isArray(value) && value.every(isObject)
const isName = text(name => /^[A-Za-z0-9_-]+$/.test(name))
const isSum = text(sum => /^[0-9a-f]{64}$/.test(sum))
const plain = (version: unknown) => versionIdentity(textOf(version) as Version)

const apart =
  (same: (version: unknown) => unknown) =>
  ({ lines }: { lines: readonly { json: { vers?: unknown } }[] }) =>
    new Set(lines.map(({ json }) => same(json.vers))).size === lines.length

const isDepName = text(isAlias)
const isReq = text(value => collect([], () => parseRequirement(value)) !== undefined)
const isTextList = (value: unknown = []) => isTexts(value)
const isKind = text(kind => /^(?:normal|build|dev)$/.test(kind))
const isRegistry = maybe(text(isIndexUrl))
const isPlain = (url: unknown) => !isText(url) || !isCratesIo(url) || url === CRATES_IO

const entries = probe(async run => (await lines(run)).flatMap(({ entry }) => entry ?? []))

/** Dependencies that have this registry under its own address. */
const aliens = probe(async run => {
  const { name } = run.target
  return (await dependencies(run)).filter(({ json }) => json.registry === name)
})

export const lineRows = [
  new Table(FORMAT, 'breaks builds')
    .row('line-json', 'each line is one JSON object')
    .each(lines, ({ json }) => Object.keys(json).length > 0)
    .key('line-name', '`name` is the name of the crate: letters, digits, `-`, `_`', isName)
    .row('line-name-file', '`name` in lower case is the name of the file')
    .each(lines, ({ crate, json }) => textOf(json.name).toLowerCase() === crate.toLowerCase())
    .key('line-vers', '`vers` is a version of SemVer 2.0.0', text(isVersion))
    .key('line-deps', '`deps` is a list of objects', isList)
    .key('line-cksum', '`cksum` is 64 hexadecimal digits in lower case', isSum)
    .key('line-features', '`features` is an object of lists of texts', (map = {}) => isMap(map))
    .key('line-yanked', '`yanked` is true or false', maybe(isFlag))
    .key('line-links', '`links` is a text, null or absent', maybe(isText))
    .key('line-v', '`v` is a whole number or absent', maybe(isU32))
    .key('line-features2', '`features2` is an object of lists of texts, or absent', maybe(isMap))
    .row('line-rust-version', '`rust_version` is a version of Rust without an operator')
    .each(lines, ({ json }) => maybe(text(isRustVersion))(json.rust_version))
    .row('line-once', 'no version has two lines')
    .each(crates, apart(textOf))
    .row('line-once-build', 'no two versions differ in build metadata alone')
    .each(crates, apart(plain)),
  new Table(READER, 'breaks builds')
    .row('line-keys', 'no key is there twice: Cargo would pass over the line')
    .each(lines, ({ text }) => !collect([], () => repeatedKey(text)))
    .row('line-pubtime', '`pubtime` is of the form 2026-11-20T12:00:00Z', { since: '1.93' })
    .each(lines, ({ json }) => maybe(text(isPubtime))(json.pubtime))
    .row('line-feature-values', 'features have names that Cargo reads, and enable what is there')
    .each(entries, entry => checkFeatures(entry, 'published').length === 0),
  new Table(FORMAT, 'differs')
    .row('line-all', '`features` and `yanked` are there: Cargo before 1.84 needs them')
    .each(lines, ({ json }) => json.features !== undefined && json.yanked !== undefined)
    .row('line-features2-v', 'a line with `features2` has `v` 2, for Cargo before 1.60')
    .each(lines, ({ json }) => !isObject(json.features2) || Number(isU32(json.v) && json.v) >= 2),
  new Table(FORMAT, 'could be better').key(
    'line-pubtime-there',
    '`pubtime` is there, for `min-publish-age`',
    isText,
    'pubtime',
  ),
]

export const dependencyRows = [
  new Table(FORMAT, 'breaks builds')
    .key('dep-name', '`name` of a dependency is a name: Cargo stops at an empty one', isDepName)
    .key('dep-req', '`req` is a requirement that Cargo reads: `^1.0`, `>=1, <2`', isReq)
    .key('dep-features', '`features` of a dependency is a list of texts', isTextList)
    .row('dep-optional', '`optional`, `default_features` and `lib` are true, false or absent')
    .each(dependencies, ({ json }) =>
      [json.optional, json.default_features, json.lib].every(isFlag),
    )
    .key('dep-target', '`target` is null, a target or a `cfg(…)`', maybe(text(isTarget)))
    .key('dep-registry', '`registry` is null or the address of an index, no name', isRegistry)
    .key('dep-package', '`package` is null or a name and not empty', maybe(isDepName)),
  new Table(READER, 'breaks builds')
    .row('dep-dev-optional', 'no dev-dependency is optional')
    .each(dependencies, ({ json }) => json.kind !== 'dev' || json.optional !== true),
  new Table(FORMAT, 'differs')
    .key('dep-kind', '`kind` is normal, build or dev', isKind)
    .row('dep-all', '`features` and `default_features` are there: Cargo before 1.84 needs them')
    .each(dependencies, ({ json }) => 'features' in json && 'default_features' in json)
    .key('dep-crates-io', 'crates.io has its git address as `registry`', isPlain, 'registry')
    .row('dep-own', '`registry` is null for this registry, so that it can move')
    .that(aliens, ([first]) => first === undefined),
]
