import { sha256 } from '../../core/sha256.ts'
import { free, inspect, same } from '../content.ts'
import { type Download, download, downloads, probe } from '../probes.ts'
import { book, cargo, only, since, Table } from '../table.ts'
import { untried } from '../verdict.ts'

const UNPACK = 'src/cargo/sources/registry/mod.rs'

const isFound = ({ answer }: Download) => answer.status === 200
const downloadable = only(downloads, isFound, 'nothing can be downloaded')
const yanked = only(downloads, ({ entry }) => entry.yanked, 'no version is yanked')
const built = only(downloads, ({ entry }) => entry.vers.includes('+'), 'no version has a `+`')
const contents = probe(async run => {
  const all = await downloadable(run)
  return Promise.all(all.map(({ entry, answer }) => inspect(run, entry, answer.raw)))
})
const absent = probe(async run => {
  const entry = (await downloadable(run))[0]?.entry ?? untried('nothing can be downloaded')
  const none = { vers: '0.0.0-plimsoll.check', cksum: '0'.repeat(64) }
  return download(run, { ...entry, ...none })
})

export const downloadRows = [
  new Table(book('registry-index.html#index-configuration'), 'breaks builds')
    .row('download-found', 'the `.crate` of a version is answered 200, and not 204 or 206')
    .each(downloads, isFound)
    .row('download-yanked', 'a yanked version is downloaded like any: lock files need it')
    .each(yanked, isFound)
    .row('download-build', 'a version with build metadata is found with its `+` as it is')
    .each(built, isFound),
  new Table(cargo('src/cargo/sources/registry/download.rs'), 'breaks builds')
    .row('download-cksum', 'the bytes of a `.crate` have the `cksum` of the line')
    .each(downloadable, ({ answer, entry }) => sha256(answer.bytes) === entry.cksum)
    .row('download-plain', 'a `.crate` has no Content-Encoding, which Cargo would decode')
    .each(downloadable, ({ answer }) => answer.header('content-encoding') === '')
    .row('download-missing', 'a version that is not there is not answered 200')
    .that(absent, ({ status }) => status !== 200),
  new Table(cargo(UNPACK), 'breaks builds')
    .row('crate-archive', 'a `.crate` is a tar archive, compressed by gzip, that Cargo unpacks')
    .by(free(contents, /^archive_(?!root|path|type|manifest|file)/))
    .row('crate-folder', 'all files of a `.crate` are in the folder NAME-VERSION')
    .by(free(contents, /^archive_(?:root|path)/))
    .row('crate-kinds', 'a `.crate` has regular files and folders alone', since('1.96', UNPACK))
    .by(free(contents, /^archive_type/))
    .row('crate-manifest', 'a `.crate` has one Cargo.toml that can be read')
    .by(free(contents, /^archive_(?:manifest|file)|^manifest/))
    .row('crate-identity', 'Cargo.toml has the name and version of the line')
    .by(free(contents, /^(?:import_identity|name_|version_)/)),
  new Table(book('registry-index.html#index-files'), 'breaks builds')
    .row('crate-deps', 'the line has the dependencies of Cargo.toml, and Cargo believes the line')
    .by(same(contents, ({ deps }) => deps.map(({ registry: _, ...dep }) => dep)))
    .row('crate-features', 'the line has the features of Cargo.toml')
    .by(same(contents, ({ features }) => features)),
  new Table(book('registry-index.html#index-files'), 'differs')
    .row('crate-rust-version', 'the line has `rust-version`, which resolvers heed', {
      since: '1.84',
    })
    .by(same(contents, ({ rust_version }) => rust_version)),
  new Table(cargo('src/cargo/sources/registry/download.rs'), 'could be better', 'http', 'public')
    .row('download-cache', 'caches may keep a `.crate`, which never changes')
    .each(downloadable, ({ answer }) => answer.maxAge !== 0),
]
