import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import type { Answer } from '../answer.ts'
import { frame, type Made, type Member, make } from '../package.ts'
import { api, type Fact, fact, readCrate, type Subject } from '../subject.ts'
import { book, cargo, Table } from '../table.ts'
import { askAs, nameOf, publish, published } from '../trial.ts'
import { wrong } from '../verdict.ts'

const PUBLISH = book('registry-web-api.html#publish')
const UNPACK = cargo('src/cargo/sources/registry/mod.rs')
const READER = cargo('src/cargo/sources/registry/index/mod.rs')
const NAMES = book('registry-index.html#index-files')

type Json = Readonly<Record<string, unknown>>

/** A publish that a registry must refuse. */
interface Attempt {
  readonly made: Made
  readonly body?: Buffer
  readonly token?: string | null
}

const textOf = ({ metadata }: Made) => JSON.stringify(metadata)
const DIFFERS = { weight: 'differs' } as const
const DEP = {
  ...{ name: 'check', version_req: '^1', features: [], optional: false, default_features: true },
  ...{ target: null, kind: 'normal' },
}

/** A good crate that is sent in another way, with other metadata, or by somebody else. */
const sent = (body: (made: Made) => Buffer) => async (name: string) => {
  const made = make(name, '1.0.0')
  return { made, body: body(made) }
}
const told = (change: (metadata: Json) => Json) =>
  sent(({ metadata, bytes }) => frame(JSON.stringify({ ...metadata, ...change(metadata) }), bytes))
const needing = (dep: Json) => told(() => ({ deps: [{ ...DEP, ...dep }] }))
const as = (token: string | null) => async (name: string) => ({ made: make(name, '1.0.0'), token })

/** An archive with something more in it. */
const packed = (more: (top: string) => Member) => async (name: string) => ({
  made: make(name, '1.0.0', '', [more(`${name}-1.0.0`)]),
})

const taken = published('taken', '1.0.0')
const hidden = published('hidden', '1.0.0')
const again =
  (version: string, spell = (name: string) => name) =>
  async (_: string, subject: Subject) => {
    const { made } = await taken(subject)
    return { made: make(spell(made.name), version, '[features]\nother = []\n') }
  }

const hiddenAgain = async (_: string, subject: Subject) => {
  const { made } = await hidden(subject)
  await askAs(subject, 'DELETE', `/${made.name}/1.0.0/yank`)
  return { made: make(made.name, '1.0.0', '[features]\nother = []\n') }
}

/** All attempts, each with a name of its own. */
const attempts: Fact<{
  readonly made: Made
  readonly isOther: boolean
  readonly answer: Answer
}>[] = []

/** States that an attempt is refused. */
function refuses(attempt: (name: string, subject: Subject) => Promise<Attempt>) {
  const word = `refused-${attempts.length}`
  const tried = fact(async subject => {
    const name = await nameOf(subject, word)
    const { made, body, token } = await attempt(name, subject)
    const answer = await publish(subject, made, body, token)
    return { made, isOther: made.name === name, answer }
  })
  attempts.push(tried)
  return async (subject: Subject) => {
    if ((await tried(subject)).answer.isDone) wrong('it was taken')
  }
}

const refused = fact(async subject => {
  const all = await Promise.all(attempts.map(attempt => attempt(subject)))
  return all.filter(({ answer }) => !answer.isDone)
})
/** The files of crates that were refused. */
const traces = fact(async subject => {
  const others = (await refused(subject)).filter(({ isOther }) => isOther)
  const crates = await Promise.all(others.map(({ made }) => readCrate(subject, made.name)))
  return crates.filter(({ answer }) => answer.status === 200)
})
const untouched = fact(async subject => {
  const { made, crate } = await taken(subject)
  await refused(subject)
  return { before: crate, answer: (await readCrate(subject, made.name)).answer }
})

/** A publish whose client goes away in the middle, and then the same once more. */
const broken = fact(async subject => {
  const made = make(await nameOf(subject, 'broken'), '1.0.0')
  const body = frame(JSON.stringify(made.metadata), made.bytes)
  const url = new URL(`${await api(subject)}/new`)
  const headers = { authorization: subject.token ?? '', 'content-length': `${body.length}` }
  const request = url.protocol === 'https:' ? requestSecure : requestPlain
  await new Promise<void>(resolve => {
    // What the server makes of it is seen afterwards.
    const half = request(url, { method: 'PUT', headers }).on('error', () => undefined)
    half.on('close', resolve).write(body.subarray(0, body.length - 20), () => half.destroy())
  })
  const { lines } = await readCrate(subject, made.name)
  if (lines.length > 0) wrong('half a publish is in the index')
  return publish(subject, made)
})

/** What a publish may not do. */
export const refusalRows = [
  new Table({ source: PUBLISH, weight: 'breaks builds', needs: ['write'] })
    .row('refuse-twice', 'a version that is there is refused')
    .by(refuses(again('1.0.0')))
    .row('refuse-twice-build', 'a version that differs in build metadata alone is refused')
    .by(refuses(again('1.0.0+a')))
    .row('refuse-twice-yanked', 'a version that is there and yanked is refused')
    .by(refuses(hiddenAgain))
    .row('refuse-vers', 'a version that is none of SemVer is refused')
    .by(refuses(told(() => ({ vers: '1.0' }))))
    .row('refuse-short', 'a body that is shorter than its lengths say is refused')
    .by(refuses(sent(made => frame(textOf(made), made.bytes, made.bytes.length + 9))))
    .row('refuse-json', 'metadata that is no JSON is refused')
    .by(refuses(sent(made => frame('{', made.bytes))))
    .row('refuse-empty', 'a publish without a body is refused')
    .by(refuses(sent(() => Buffer.alloc(0))))
    .row('refuse-anonymous', 'a publish without a token is refused')
    .by(refuses(as(null)))
    .row('refuse-token', 'a publish with a token that is not valid is refused')
    .by(refuses(as('plimsoll-check-wrong')))
    .row('refuse-traces', 'what was refused is not in the index')
    .that(traces, found => found.length === 0)
    .row('refuse-kept', 'a refused second publish leaves the first as it was')
    .that(untouched, ({ before, answer }) => before.answer.bytes.equals(answer.bytes))
    .row('refuse-broken', 'a publish that broke off has not happened, and can be done again')
    .that(broken, answer => answer.isDone),
  new Table({ source: NAMES, weight: 'breaks builds', needs: ['write'] })
    .row('refuse-case', 'the name of another crate with other capitals is refused')
    .by(refuses(again('2.0.0', name => name.replace('-taken', '-Taken'))))
    .row('refuse-hyphen', 'the name of another crate with `_` for `-` is refused', DIFFERS)
    .by(refuses(again('3.0.0', name => name.replace('-taken', '_taken'))))
    .row('refuse-name', 'a name that leads out of a folder is refused')
    .by(refuses(told(() => ({ name: '../check' }))))
    .row('refuse-name-empty', 'an empty name is refused')
    .by(refuses(told(() => ({ name: '' })))),
  new Table({ source: UNPACK, weight: 'breaks builds', needs: ['write'] })
    .row('refuse-symlink', 'an archive with a symbolic link is refused', { since: '1.96' })
    .by(refuses(packed(top => ({ path: `${top}/link`, type: '2' }))))
    .row('refuse-hardlink', 'an archive with a hard link is refused', { since: '1.96' })
    .by(refuses(packed(top => ({ path: `${top}/link`, type: '1' }))))
    .row('refuse-beside', 'an archive with a file beside its folder is refused')
    .by(refuses(packed(() => ({ path: 'other/a.rs' }))))
    .row('refuse-parent', 'an archive with a path that climbs out of its folder is refused')
    .by(refuses(packed(top => ({ path: `${top}/../a.rs` }))))
    .row('refuse-absolute', 'an archive with an absolute path is refused')
    .by(refuses(packed(() => ({ path: '/tmp/a.rs' }))))
    .row('refuse-gzip', 'a `.crate` that is no archive is refused')
    .by(refuses(sent(made => frame(textOf(made), Buffer.from('no archive')))))
    .row('refuse-identity', 'a `.crate` of another name than its metadata is refused')
    .by(refuses(told(({ name }) => ({ name: `${name}-other` })))),
  new Table({ source: READER, weight: 'breaks builds', needs: ['write'] })
    .row('refuse-deps', 'a dependency that Cargo.toml does not have is refused')
    .by(refuses(needing({})))
    .row('refuse-features', 'a feature that Cargo.toml does not have is refused', DIFFERS)
    .by(refuses(told(() => ({ features: { other: [] } }))))
    .row('refuse-dep-name', 'a dependency with an empty name, at which Cargo stops, is refused')
    .by(refuses(needing({ name: '' })))
    .row('refuse-dep-req', 'a dependency with a requirement that is none is refused')
    .by(refuses(needing({ version_req: 'one' })))
    .row(
      'refuse-dep-registry',
      'a dependency with the name of a registry for its address is refused',
    )
    .by(refuses(needing({ registry: 'team' })))
    .row('refuse-value', 'a feature that enables what is not there is refused')
    .by(refuses(told(() => ({ features: { one: ['none'] } })))),
  new Table({ source: book('registry-web-api.html'), weight: 'differs', needs: ['write'] })
    .row('refuse-reasons', 'each refusal has reasons in `errors`, which Cargo shows')
    .each(refused, ({ answer }) => (answer.errors ?? []).length > 0)
    .row('refuse-status', 'no refusal is 500 to 599')
    .each(refused, ({ answer }) => answer.status < 500),
]
