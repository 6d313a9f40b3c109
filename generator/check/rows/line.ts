import { repeatedKey } from '../../../core/entry/parse.ts'
import { isObject, isTexts } from '../../../core/plain-data.ts'
import { checkFeatures, isFeatureName } from '../../../core/release/features.ts'
import { isPubtime } from '../../../core/timestamp.ts'
import { isRustVersion, isVersion, type Version, versionIdentity } from '../../../core/version.ts'
import { crates, fact, lines } from '../subject.ts'
import { book, cargo, isText, like, maybe, Table, text } from '../table.ts'

const FORMAT = book('registry-index.html#index-files')
const READER = cargo('src/cargo/sources/registry/index/mod.rs')

const KEYS = 'name vers deps cksum features yanked links v features2 rust_version pubtime'.split(
  ' ',
)
const plain = (version: string) => versionIdentity(version as Version)
const isFlag = (value: unknown) => typeof value === 'boolean'
const isMap = (value: unknown) => isObject(value) && Object.values(value).every(isTexts)
const isFull = (map: unknown) => isObject(map) && Object.keys(map).length > 0

/** Of each crate, the versions that have more than one line, by what makes them the same. */
const twins = (same: (version: string) => string) =>
  fact(async subject =>
    (await crates(subject)).flatMap(({ name, lines }) => {
      const versions = lines.map(({ json }) => same(String(json.vers)))
      const twice = versions.filter((version, at) => versions.indexOf(version) !== at)
      return twice.map(version => `${name} ${version}`)
    }),
  )

/** What is wrong with the features of lines that Cargo can read otherwise. */
const faults = fact(async subject =>
  (await lines(subject)).flatMap(({ crate, entry }) =>
    (entry ? checkFeatures(entry) : []).map(({ code, message }) => ({ crate, code, message })),
  ),
)

/** The keys of a line, and of its features. */
export const lineRows = [
  new Table({ source: FORMAT, weight: 'breaks builds' })
    .row('line-json', 'each line is one JSON object')
    .line(({ json }) => isFull(json))
    .row('line-name', '`name` is the name of the crate: letters, digits, `-`, `_`')
    .field('name', like(/^[A-Za-z0-9_-]+$/))
    .row('line-name-file', '`name` in lower case is the name of the file')
    .line(({ crate, json }) => String(json.name).toLowerCase() === crate.toLowerCase())
    .row('line-vers', '`vers` is a version of SemVer 2.0.0')
    .field('vers', text(isVersion))
    .row('line-deps', '`deps` is a list of objects')
    .field('deps', deps => Array.isArray(deps) && deps.every(isObject))
    .row('line-cksum', '`cksum` is 64 hexadecimal digits in lower case')
    .field('cksum', like(/^[0-9a-f]{64}$/))
    .row('line-features', '`features` is an object of lists of texts')
    .field('features', features => features === undefined || isMap(features))
    .row('line-yanked', '`yanked` is true or false')
    .field('yanked', maybe(isFlag))
    .row('line-links', '`links` is a text, null or absent')
    .field('links', maybe(isText))
    .row('line-v', '`v` is a whole number or absent')
    .field('v', maybe(Number.isInteger))
    .row('line-features2', '`features2` is an object of lists of texts, null or absent')
    .field('features2', maybe(isMap))
    .row('line-rust-version', '`rust_version` is a version of Rust without an operator')
    .field('rust_version', maybe(text(isRustVersion)))
    .row('line-once', 'no version has two lines')
    .that(twins(String), all => all.length === 0)
    .row('line-once-build', 'no two versions differ in build metadata alone')
    .that(twins(plain), all => all.length === 0),
  new Table({ source: READER, weight: 'breaks builds' })
    .row('line-keys', 'no key is there twice: Cargo would pass over the line')
    .line(({ text }) => repeatedKey(text) === null)
    .row('line-names-agree', 'all lines of a file spell `name` in one way')
    .each(crates, ({ lines }) => new Set(lines.map(({ json }) => json.name)).size <= 1)
    .row('line-pubtime', '`pubtime` is of the form 2026-11-20T12:00:00Z', { since: '1.93' })
    .field('pubtime', maybe(text(isPubtime)))
    .row('line-feature-names', 'each name of a feature is one that Cargo takes')
    .field('features', map => !isObject(map) || Object.keys(map).every(isFeatureName))
    .row('line-feature-values', 'each feature enables features and dependencies that are there')
    .that(faults, all => !all.some(({ code }) => /unknown|value_/.test(code)))
    .row('line-reachable', 'a feature leads to each optional dependency')
    .that(faults, all => !all.some(({ code }) => code === 'dependency_unreachable'))
    .row('line-v-known', '`v` is at most 2; Cargo passes over others')
    .field('v', v => Number(v ?? 1) <= 2),
  new Table({ source: FORMAT, weight: 'differs' })
    .row('line-all', '`features` and `yanked` are there: Cargo before 1.84 needs them')
    .field('features', (features, { yanked }) => features !== undefined && yanked !== undefined)
    .row('line-features2-v', 'a line with `features2` has `v` 2, for Cargo before 1.60')
    .field('v', (v, { features2 }) => !isFull(features2) || Number(v) >= 2),
  new Table({ source: READER, weight: 'could be better' })
    .row('line-known', 'a line has only keys that Cargo knows')
    .line(({ json }) => Object.keys(json).every(key => KEYS.includes(key)))
    .row('line-name-length', '`name` has at most 64 characters')
    .field(
      'name',
      text(name => name.length <= 64),
    )
    .row('line-pubtime-there', '`pubtime` is there: `min-publish-age` passes what has none')
    .field('pubtime', isText),
]
