import type { Dependency, Entry } from '../../../core/entry/entry.ts'
import { compareDependencies } from '../../../core/entry/render.ts'
import { collect, type Issue } from '../../../core/error/error.ts'
import { inspectCrate } from '../../../core/release/inspect.ts'
import { parseRequirement } from '../../../core/requirement.ts'
import { sha256 } from '../../../core/sha256.ts'
import { printTarget } from '../../../core/target.ts'
import { type Download, download, downloads, fact } from '../subject.ts'
import { book, cargo, only, Table } from '../table.ts'
import { untried } from '../verdict.ts'

const BOOK = book('registry-index.html#index-configuration')
const FORMAT = book('registry-index.html#index-files')
const DOWNLOAD = cargo('src/cargo/sources/registry/download.rs')
const UNPACK = cargo('src/cargo/sources/registry/mod.rs')
const MiB = 1024 ** 2

/** What Cargo unpacks: 512 MiB, and far more than any manifest. */
const LIMITS = { unpackedBytes: 512 * MiB, entries: 100_000, manifestBytes: MiB, readmeBytes: MiB }

/** What is in a `.crate`: the entry that its Cargo.toml makes, and what is wrong with it. */
interface Content {
  readonly named: string
  readonly line: Entry
  readonly packaged: Entry | null
  readonly issues: readonly Issue[]
}

const found = only(downloads, ({ answer }) => answer.status === 200, 'nothing can be downloaded')
const contents = fact(async (subject): Promise<readonly Content[]> => {
  const parts = { pubtime: null, ownIndexUrls: new Set([subject.target.name]), limits: LIMITS }
  return Promise.all(
    (await found(subject)).map(async ({ entry, answer: { raw } }) => {
      const open = async function* () {
        yield raw
      }
      const facts = { ...parts, cksum: entry.cksum, size: raw.length }
      const { release, issues } = await inspectCrate(open, facts)
      const errors = issues.filter(({ severity }) => severity === 'error')
      const named = `${entry.name} ${entry.vers}`
      return { named, line: entry, packaged: release?.entry ?? null, issues: errors }
    }),
  )
})
const first = async (subject: Parameters<typeof found>[0]) => (await found(subject))[0] as Download
const absent = fact(async subject => {
  const { entry } = await first(subject)
  return download(subject, { ...entry, vers: '0.0.0-plimsoll.check' })
})
const again = fact(async subject => {
  const { entry, answer } = await first(subject)
  return { before: answer, answer: await download(subject, entry) }
})

const isFound = ({ answer }: Download) => answer.status === 200
/** Downloads from another origin than that of the index. */
const elsewhere = fact(async subject => {
  const { origin } = new URL(subject.target.name.replace(/^sparse\+/, ''))
  const others = (await found(subject)).filter(
    ({ answer }) => new URL(answer.url).origin !== origin,
  )
  return others.length > 0 ? others : untried('downloads come from the origin of the index')
})

const isOpen = ({ answer }: Download) => answer.header('access-control-allow-origin') !== ''
/** Whether the archive has none of the errors with such codes, and which it has. */
const free = (codes: RegExp) =>
  [
    ({ issues }: Content) => !issues.some(({ code }) => codes.test(code)),
    ({ named, issues }: Content) =>
      `${named}: ${issues.find(({ code }) => codes.test(code))?.message}`,
  ] as const

/** Whether line and packaged manifest say the same in one part. */
const agree = (part: (entry: Entry) => unknown) => {
  const text = (entry: Entry | null) => JSON.stringify(entry && part(entry))
  return [
    ({ line, packaged }: Content) => packaged === null || text(line) === text(packaged),
    ({ named, line, packaged }: Content) =>
      `${named}: the line has ${text(line)}, Cargo.toml ${text(packaged)}`,
  ] as const
}
const plain = ({ name, req, optional, target, kind, package: real }: Dependency) => [
  ...[name, collect([], () => parseRequirement(req)) ?? req, optional],
  ...[target && printTarget(target), kind, real ?? name],
]
const depsOf = ({ deps }: Entry) =>
  deps
    .filter(({ kind }) => kind !== 'dev')
    .sort(compareDependencies)
    .map(plain)
const featuresOf = ({ features }: Entry) =>
  Object.keys(features)
    .sort()
    .map(name => [name, ...[...(features[name] ?? [])].sort()])

/** The `.crate` files and their way to Cargo. */
export const downloadRows = [
  new Table({ source: BOOK, weight: 'breaks builds' })
    .row('download-found', 'the `.crate` of a version is answered 200, and not 204 or 206')
    .each(downloads, isFound)
    .row('download-yanked', 'a yanked version is downloaded like any: lock files need it')
    .each(
      only(downloads, ({ entry }) => entry.yanked, 'no version is yanked'),
      isFound,
    )
    .row('download-build', 'a version with build metadata is found with its `+` as it is')
    .each(
      only(downloads, ({ entry }) => /\+/.test(entry.vers), 'no version has a `+`'),
      isFound,
    ),
  new Table({ source: DOWNLOAD, weight: 'breaks builds' })
    .row('download-cksum', 'the bytes of a `.crate` have the `cksum` of the line')
    .each(found, ({ answer, entry }) => sha256(answer.bytes) === entry.cksum)
    .row('download-plain', 'a `.crate` has no Content-Encoding, which Cargo would decode')
    .each(found, ({ answer }) => answer.header('content-encoding') === '')
    .row('download-same', 'two downloads have the same bytes')
    .that(again, ({ before, answer }) => before.raw.equals(answer.raw))
    .row('download-missing', 'a version that is not there is not answered 200')
    .that(absent, ({ status }) => status !== 200),
  new Table({ source: UNPACK, weight: 'breaks builds' })
    .row('crate-archive', 'a `.crate` is a tar archive, compressed by gzip, that Cargo unpacks')
    .each(contents, ...free(/^archive_(?!root|path|type|manifest|file)/))
    .row('crate-folder', 'all files of a `.crate` are in the folder NAME-VERSION')
    .each(contents, ...free(/^archive_(?:root|path)/))
    .row('crate-kinds', 'a `.crate` has regular files and folders alone', { since: '1.96' })
    .each(contents, ...free(/^archive_type/))
    .row('crate-manifest', 'a `.crate` has one Cargo.toml that can be read')
    .each(contents, ...free(/^archive_(?:manifest|file)|^manifest/))
    .row('crate-identity', 'Cargo.toml has the name and version of the line')
    .each(contents, ...free(/^release_identity/)),
  new Table({ source: FORMAT, weight: 'breaks builds' })
    .row('crate-deps', 'the line has the dependencies of Cargo.toml, and Cargo believes the line')
    .each(contents, ...agree(depsOf))
    .row('crate-features', 'the line has the features of Cargo.toml')
    .each(contents, ...agree(featuresOf)),
  new Table({ source: FORMAT, weight: 'differs' })
    .row('crate-links', 'the line has `links` of Cargo.toml')
    .each(contents, ...agree(({ links }) => links))
    .row('crate-rust-version', 'the line has `rust-version`: the resolver heeds it', {
      since: '1.84',
    })
    .each(contents, ...agree(entry => entry.rust_version)),
  new Table({ source: DOWNLOAD, weight: 'could be better', needs: ['http'] })
    .row('download-missing-404', 'a version that is not there is answered 404')
    .that(absent, ({ status }) => status === 404)
    .row('download-type', 'a `.crate` is not of type text/html')
    .each(found, ({ answer }) => !/html/.test(answer.header('content-type')))
    .row('download-length', 'a download says its length, so that a broken one is noticed')
    .each(found, ({ answer }) => answer.header('content-length') !== ''),
  new Table({ source: DOWNLOAD, weight: 'could be better', needs: ['http', 'public'] })
    .row('download-cache', 'caches may keep a `.crate`, which never changes')
    .each(found, ({ answer }) => answer.maxAge !== 0)
    .row('download-cors', 'the pages beside an index may read a `.crate` at another origin')
    .each(elsewhere, isOpen),
]
