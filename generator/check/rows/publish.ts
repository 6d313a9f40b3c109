import type { Dependency } from '../../../core/entry/entry.ts'
import { isTexts } from '../../../core/plain-data.ts'
import { sha256 } from '../../../core/sha256.ts'
import { CRATES_IO } from '../../../core/urls/urls.ts'
import { frame, make } from '../package.ts'
import { askIndex, type Crate, download, fact, type Line, type Subject } from '../subject.ts'
import { book, cargo, type Own, Table } from '../table.ts'
import { indexPath } from '../target.ts'
import { has, nameOf, type Published, publish, published, settle } from '../trial.ts'
import { untried, Wrong } from '../verdict.ts'

const PUBLISH = book('registry-web-api.html#publish')
const FORMAT = book('registry-index.html#index-files')
const POLL = cargo('src/cargo/ops/registry/publish.rs')
const CLIENT = cargo('crates/crates-io/lib.rs')

const own = async (subject: Subject, table: string, name: string, more: string) =>
  `[${table}]\nregistry-index = "${subject.target.name}"\n${name === '' ? '' : `package = "${await nameOf(subject, name)}"\n`}${more}\n`

const base = published('base', '1.0.0', async () => '[features]\none = []\n')

/** A release with everything that Cargo puts into the index. */
const rich = published(
  'rich',
  '1.2.3',
  async subject => {
    await base(subject)
    const name = await nameOf(subject, 'base')
    const tables = [
      own(
        subject,
        'dependencies.other',
        'base',
        'version = "1.0"\noptional = true\ndefault-features = false\nfeatures = ["one"]',
      ),
      own(subject, `dev-dependencies.${name}`, '', 'version = "~1.0"'),
      own(subject, `build-dependencies.${name}`, '', 'version = "=1.0.0"'),
      own(subject, `target.'cfg(windows)'.dependencies.${name}`, '', 'version = ">=1.0, <2"'),
    ]
    return `links = "${name}"\nrust-version = "1.60"\n${(await Promise.all(tables)).join('')}
[features]
default = ["plain"]
plain = []
strong = ["dep:other"]
weak = ["other?/one"]
`
  },
  [{ path: 'build.rs', data: 'fn main() {}' }],
)

const foreign = published('foreign', '1.0.0', async () => '[dependencies]\nserde = "1"\n')
const capital = published('MixedCase', '1.0.0')
const build = published('build', '1.0.0-rc.1+b.7')
/** The line of something published; untried where the index does not have it. */
const lineOf = (from: (subject: Subject) => Promise<Published>) => async (subject: Subject) => {
  const { made, crate } = await from(subject)
  const line = crate.lines.find(({ json }) => json.vers === made.version)
  return line ?? untried('what was published is not in the index')
}
const richLine = lineOf(rich)
const dependency = (fits: (dep: Dependency) => boolean) => (line: Line) =>
  (line.entry?.deps ?? []).filter(fits).length === 1
const enables =
  (feature: string, value: string) =>
  ({ entry }: Line) =>
    String(entry?.features[feature]) === value

/** A second version: the file before it and after it, and a question with the ETag of before. */
const second = fact(async subject => {
  const { made, crate: before } = await base(subject)
  const next = make(made.name, '1.1.0')
  const answer = await publish(subject, next)
  if (!answer.isDone) untried(`the publish was refused: ${answer}`)
  const { crate } = await settle(subject, made.name, has('1.1.0'))
  const headers = { 'if-none-match': etagOf(before) }
  return { before, crate, answer: await askIndex(subject, indexPath(made.name), { headers }) }
})

/** Publishes with other metadata than Cargo's of today. */
const variant = (word: string, change: (metadata: Readonly<Record<string, unknown>>) => object) =>
  fact(async subject => {
    const made = make(await nameOf(subject, word), '1.0.0')
    return publish(subject, made, frame(JSON.stringify(change(made.metadata)), made.bytes))
  })
const least = variant('least', ({ name, vers }) => ({ name, vers }))
const more = variant('more', metadata => ({ ...metadata, plimsoll: { check: [true] } }))

/** Several publishes of one crate at once. */
const together = fact(async subject => {
  const name = await nameOf(subject, 'together')
  const all = ['1.0.0', '2.0.0', '3.0.0'].map(version => make(name, version))
  const answers = await Promise.all(all.map(made => publish(subject, made)))
  const { crate } = await settle(subject, name, ({ lines }) => lines.length === 3)
  return { answers, crate }
})

const fetched = fact(async subject => {
  const { made } = await base(subject)
  const { entry } = await lineOf(base)(subject)
  return { made, answer: await download(subject, entry ?? untried('its line cannot be read')) }
})
/** Publishes something and returns the answer, whatever it is. */
const answerTo = (word: string, toml = '') =>
  fact(async subject => publish(subject, make(await nameOf(subject, word), '1.0.0', toml)))
const first = answerTo('first')
const unicode = answerTo(
  'unicode',
  'homepage = "https://example.com/?a=<b>&c=\\"d\\""\nauthors = ["Zoë ⚓ <zoe@example.com>"]\n',
)
const warnings = ({ json }: { json: unknown }) => (Object(json) as { warnings?: object }).warnings

const etagOf = ({ answer }: Crate) => answer.header('etag')
const SEEN: Own = { source: POLL, needs: ['write', 'http'] }
const AT_ONCE: Own = { weight: 'could be better', needs: ['write', 'http'] }

/** What a publish does. */
export const publishRows = [
  new Table({ source: PUBLISH, weight: 'breaks publishing', needs: ['write'] })
    .row('publish-done', 'a publish by the frame of Cargo is answered 200 to 299, without `errors`')
    .that(first, answer => answer.isDone)
    .row(
      'publish-least',
      'of the metadata only `name` and `vers` are needed: what is missing is null',
    )
    .that(least, answer => answer.isDone)
    .row('publish-more', 'keys of the metadata that nobody knows are passed over')
    .that(more, answer => answer.isDone)
    .row('publish-unicode', 'metadata may have any characters')
    .that(unicode, answer => answer.isDone)
    .row('publish-warnings', '`warnings`, if there are any, are lists of texts', { source: CLIENT })
    .that(first, answer => Object.values(warnings(answer) ?? {}).every(isTexts))
    .row('publish-seen', 'what is published is in the index within a minute', { source: POLL })
    .that(base, ({ crate }) => has('1.0.0')(crate))
    .row('publish-changed', 'after a publish, the ETag of before gets the new file', SEEN)
    .that(second, ({ answer }) => answer.status === 200)
    .row('publish-etag', 'after a publish, the file has another ETag, if it has one', SEEN)
    .that(second, ({ before, crate }) => etagOf(before) === '' || etagOf(before) !== etagOf(crate))
    .row('publish-kept', 'a publish leaves the lines of older versions as they were', {
      source: FORMAT,
    })
    .that(second, ({ before, crate }) =>
      before.lines.every(({ text }) => crate.answer.text.includes(text)),
    )
    .row('publish-together', 'publishes of several versions at once all arrive')
    .that(
      together,
      ({ answers, crate }) => answers.every(answer => answer.isDone) && crate.lines.length === 3,
    )
    .row('publish-capitals', 'a name with capitals keeps them, in a file in lower case', {
      source: FORMAT,
    })
    .that(lineOf(capital), ({ crate, json }) => json.name === crate)
    .row('publish-build', 'a version keeps its pre-release and its build metadata', {
      source: FORMAT,
    })
    .that(build, ({ made, crate }) => has(made.version)(crate)),
  new Table({ source: FORMAT, weight: 'breaks builds', needs: ['write'] })
    .row('publish-cksum', '`cksum` is the SHA-256 of the bytes that were published')
    .by(async subject => {
      const { made } = await base(subject)
      const { json } = await lineOf(base)(subject)
      if (json.cksum !== sha256(made.bytes)) throw new Wrong(`\`cksum\` is ${json.cksum}`)
    })
    .row('publish-bytes', 'a download has the bytes that were published')
    .that(fetched, ({ made, answer }) => answer.status === 200 && answer.raw.equals(made.bytes))
    .row('publish-yanked', 'what is published is not yanked')
    .that(lineOf(base), ({ json }) => json.yanked !== true)
    .row(
      'publish-rename',
      'a renamed dependency has the new name as `name` and the real one as `package`',
    )
    .that(
      richLine,
      dependency(({ name, package: real }) => name === 'other' && /-base$/.test(real ?? '')),
    )
    .row('publish-optional', 'a dependency keeps `optional`, `default_features` and `features`')
    .that(
      richLine,
      dependency(dep => dep.optional && !dep.default_features && String(dep.features) === 'one'),
    )
    .row('publish-kinds', 'a dependency keeps its kind')
    .that(
      richLine,
      dependency(({ kind, req }) => kind === 'build' && req === '=1.0.0'),
    )
    .row('publish-target', 'a dependency keeps its target')
    .that(
      richLine,
      dependency(({ target }) => target === 'cfg(windows)'),
    )
    .row('publish-req', 'a dependency keeps its requirement')
    .that(
      richLine,
      dependency(({ req }) => req === '>=1.0, <2'),
    )
    .row('publish-own', 'a dependency on the same registry has `registry` null')
    .that(richLine, ({ entry }) => (entry?.deps ?? []).every(({ registry }) => registry === null))
    .row('publish-crates-io', 'a dependency on crates.io keeps the address of its git index')
    .that(
      lineOf(foreign),
      dependency(({ registry }) => registry === CRATES_IO),
    )
    .row('publish-features', 'features are in the line')
    .that(richLine, enables('default', 'plain'))
    .row('publish-strong', 'a feature with `dep:` is in the line')
    .that(richLine, enables('strong', 'dep:other'))
    .row('publish-weak', 'a feature with `?/` is in the line')
    .that(richLine, enables('weak', 'other?/one')),
  new Table({ source: FORMAT, weight: 'differs', needs: ['write'] })
    .row('publish-links', '`links` is in the line')
    .that(richLine, ({ entry }) => /-base$/.test(entry?.links ?? ''))
    .row('publish-rust-version', '`rust_version` is in the line')
    .that(richLine, ({ json }) => json.rust_version === '1.60')
    .row('publish-at-once', 'what is published is in the index when the answer comes', AT_ONCE)
    .that(base, ({ looks }) => looks === 1),
]
