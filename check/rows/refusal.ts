import { Readable } from 'node:stream'
import type { Header } from 'tar-stream'
import { CRATES_IO } from '../../core/index-url.ts'
import type { Answer } from '../answer.ts'
import { frame, make } from '../package.ts'
import { askApi, type CheckRun, missingName, type Probe, probe, readCrate } from '../probes.ts'
import { BAD_TOKEN, book, cargo, DIFFERS, since, Table } from '../table.ts'
import { askWith, nameOf, type Published, publish, published } from '../trial.ts'
import { wrong } from '../verdict.ts'

const UNPACK = 'src/cargo/sources/registry/mod.rs'

/** How a publish differs from a good one, so that a registry must refuse it. */
interface Wish {
  /** The crate whose name it takes, and how it writes that. */
  readonly of?: Probe<Published>
  readonly from?: string
  readonly to?: string
  readonly version?: string
  readonly toml?: (run: CheckRun) => Promise<string>
  /** Keys of the metadata, or what stands in their place. */
  readonly told?: Readonly<Record<string, unknown>>
  readonly text?: string
  readonly bytes?: Buffer
  readonly packed?: string
  readonly missing?: number
  /** A file below the folder of the archive, or elsewhere. */
  readonly file?: Partial<Header> & { readonly name: string }
  readonly token?: string | null
}

const taken = published('taken', '1.0.0')
const unyanked = published('hidden', '1.0.0')
const hidden: typeof taken = async run => {
  const release = await unyanked(run)
  await askWith(run, 'DELETE', `/${release.made.name}/1.0.0/yank`)
  return release
}
const dep = { name: 'serde', version_req: '^1', features: [], optional: false, kind: 'normal' }
const deps = [{ ...dep, default_features: true, target: null, registry: CRATES_IO }]
const serde = async () => '[dependencies]\nserde = "2"\n'
const unknown = async (run: CheckRun) =>
  `[dependencies.${await missingName(run)}]\nversion = "1"\nregistry-index = "${run.target.name}"\n`

const attempts: Probe<{ readonly name: string; readonly answer: Answer }>[] = []

function refuses({ of, from = '', to = '', version = '1.0.0', file, token, ...wish }: Wish) {
  const other = async () => (of ? '[features]\nother = []\n' : '')
  const { toml = other } = wish
  const word = `refused-${attempts.length}`
  const tried = probe(async run => {
    // A user who may publish nothing at all does not learn what the registry refuses.
    await taken(run)
    const name = await nameOf(run, word)
    const spelled = ((await of?.(run))?.made.name ?? name).replace(from, to)
    const files = file ? [{ ...file, name: file.name.replace('TOP', `${name}-${version}`) }] : []
    const made = await make(spelled, version, await toml(run), files)
    const packed = wish.packed === undefined ? made : await make(wish.packed, version)
    const { text = JSON.stringify({ ...made.metadata, ...wish.told }), bytes = packed.bytes } = wish
    const body = frame(text, bytes, bytes.length + (wish.missing ?? 0))
    // If the registry takes it all the same, the end of the run yanks the version it was sent with.
    const sent = { ...made, version: String(wish.told?.vers ?? version) }
    return { name, answer: await publish(run, sent, body, token, run.doubtful) }
  })
  attempts.push(tried)
  return async (run: CheckRun) => {
    if ((await tried(run)).answer.isDone) wrong('it was taken')
  }
}

const refused = probe(async run => {
  const all = await Promise.all(attempts.map(attempt => attempt(run)))
  return all.filter(({ answer }) => !answer.isDone)
})
const traces = probe(async run => {
  const names = (await refused(run)).map(({ name }) => name)
  return Promise.all(names.map(name => readCrate(run, name)))
})

/** A publish whose client goes away in the middle, and then the same once more. */
const broken = probe(async run => {
  await taken(run)
  const made = await make(await nameOf(run, 'broken'), '1.0.0')
  const whole = frame(JSON.stringify(made.metadata), made.bytes)
  const half = async function* () {
    yield whole.subarray(0, -20)
    throw new Error('the client goes away')
  }
  const headers = { 'content-length': `${whole.length}` }
  const ask = { method: 'PUT', headers, body: Readable.from(half()), token: run.token } as const
  const asked = askApi(run, '/new', ask)
  // Nobody is answered; what the server makes of it is seen afterwards.
  await Promise.allSettled([asked])
  const { lines } = await readCrate(run, made.name)
  return lines.length > 0 ? wrong('half a publish is in the index') : publish(run, made)
})

/** Two publishes of one version at once, which differ in a feature, and how many are taken. */
const race = probe(async run => {
  const name = await nameOf(run, 'race')
  await taken(run)
  const tomls = ['[features]\none = []\n', '[features]\ntwo = []\n']
  const both = await Promise.all(tomls.map(toml => make(name, '1.0.0', toml)))
  const answers = await Promise.all(both.map(made => publish(run, made)))
  return answers.filter(({ isDone }) => isDone).length
})

export const refusalRows = [
  new Table(book('registry-web-api.html#publish'), 'breaks builds', 'write')
    .row('refuse-twice', 'a version that is there is refused')
    .by(refuses({ of: taken }))
    .row('refuse-twice-build', 'a version that differs in build metadata alone is refused')
    .by(refuses({ of: taken, version: '1.0.0+a' }))
    .row('refuse-twice-yanked', 'a version that is there and yanked is refused')
    .by(refuses({ of: hidden }))
    .row('refuse-race', 'of two publishes of one version at once, one is refused')
    .that(race, count => count === 1)
    .row('refuse-vers', 'a version that is none of SemVer is refused')
    .by(refuses({ told: { vers: '1.0' } }))
    .row('refuse-short', 'a body that is shorter than its lengths say is refused')
    .by(refuses({ missing: 9 }))
    .row('refuse-json', 'metadata that is no JSON is refused')
    .by(refuses({ text: '{' }))
    .row('refuse-anonymous', 'a publish without a token is refused')
    .by(refuses({ token: null }))
    .row('refuse-token', 'a publish with a token that is not valid is refused')
    .by(refuses({ token: BAD_TOKEN }))
    .row('refuse-traces', 'what was refused is not in the index')
    .each(traces, ({ answer }) => answer.status !== 200)
    .row('refuse-broken', 'a publish that broke off has not happened, and can be done again')
    .that(broken, ({ isDone }) => isDone),
  new Table(book('registry-index.html#index-files'), 'breaks builds', 'write')
    .row('refuse-case', 'the name of another crate with other capitals is refused')
    .by(refuses({ of: taken, version: '2.0.0', from: '-taken', to: '-Taken' }))
    .row('refuse-hyphen', 'the name of another crate with `_` for `-` is refused', DIFFERS)
    .by(refuses({ of: taken, version: '3.0.0', from: '-taken', to: '_taken' }))
    .row('refuse-name', 'a name that leads out of a folder is refused')
    .by(refuses({ told: { name: '../check' } })),
  new Table(cargo(UNPACK), 'breaks builds', 'write')
    .row('refuse-symlink', 'an archive with a symbolic link is refused', since('1.96', UNPACK))
    .by(refuses({ file: { name: 'TOP/link', type: 'symlink', linkname: '/etc/hostname' } }))
    .row('refuse-link', 'an archive with a hard link is refused', since('1.96', UNPACK))
    .by(refuses({ file: { name: 'TOP/link', type: 'link', linkname: 'TOP/Cargo.toml' } }))
    .row('refuse-absolute', 'an archive with an absolute path is refused')
    .by(refuses({ file: { name: '/plimsoll-check' } }))
    .row('refuse-beside', 'an archive with a file beside its folder is refused')
    .by(refuses({ file: { name: 'other/a.rs' } }))
    .row('refuse-parent', 'an archive with a path that climbs out of its folder is refused')
    .by(refuses({ file: { name: 'TOP/../a.rs' } }))
    .row('refuse-gzip', 'a `.crate` that is no archive is refused')
    .by(refuses({ bytes: Buffer.from('no archive') }))
    .row('refuse-identity', 'a `.crate` of another name than its metadata is refused')
    .by(refuses({ packed: 'other' })),
  new Table(cargo('src/cargo/sources/registry/index/mod.rs'), 'breaks builds', 'write')
    .row('refuse-deps', 'a dependency that Cargo.toml does not have is refused')
    .by(refuses({ told: { deps } }))
    .row('refuse-lost-deps', 'a dependency that Cargo.toml alone has is refused')
    .by(refuses({ toml: serde, told: { deps: [] } }))
    .row('refuse-req', 'a dependency with another requirement than in Cargo.toml is refused')
    .by(refuses({ toml: serde, told: { deps } }))
    .row('refuse-unknown', 'a dependency on a crate that is not there is refused', DIFFERS)
    .by(refuses({ toml: unknown }))
    .row('refuse-features', 'a feature that Cargo.toml does not have is refused', DIFFERS)
    .by(refuses({ told: { features: { other: [] } } }))
    .row('refuse-dep-name', 'a dependency with an empty name, at which Cargo stops, is refused')
    .by(refuses({ told: { deps: [{ ...deps[0], name: '' }] } })),
  new Table(book('registry-web-api.html'), 'differs', 'write')
    .row('refuse-reasons', 'each refusal has reasons in `errors`, which Cargo shows')
    .each(refused, ({ answer }) => answer.errors.length > 0)
    .row('refuse-status', 'no refusal is 500 to 599')
    .each(refused, ({ answer }) => answer.status < 500),
]
