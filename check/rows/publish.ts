import { isTexts } from '../../core/plain-data.ts'
import { inspect, same } from '../content.ts'
import { frame, make } from '../package.ts'
import { askFile, type CheckRun, download, probe } from '../probes.ts'
import { book, cargo, Table } from '../table.ts'
import { has, nameOf, type Published, publish, published, settle } from '../trial.ts'
import { untried } from '../verdict.ts'

const FORMAT = book('registry-index.html#index-files')

const base = published('base', '1.0.0', async () => '[features]\none = []\n')

const rich = published('rich', '1.2.3', async run => {
  const { name } = (await base(run)).made
  const own = `registry-index = "${run.target.name}"\nversion =`
  return `links = "${name}"
rust-version = "1.60"
[dependencies.other]
package = "${name}"
optional = true
default-features = false
features = ["one"]
${own} "1.0"
[build-dependencies.${name}]
${own} "=1.0.0"
[target.'cfg(windows)'.dependencies.${name}]
${own} ">=1.0, <2"
[features]
default = ["plain"]
plain = []
strong = ["dep:other"]
weak = ["other?/one"]
`
})
const foreign = published('foreign', '1.0.0', async () => '[dependencies]\nserde = "1"\n')
const capital = published('MixedCase', '1.0.0')
const build = published('build', '1.0.0-rc.1+b.7')

/** The line of something published; untried where the index does not have it. */
const entryOf = ({ made, crate }: Published) =>
  crate.lines.find(({ json }) => json.vers === made.version)?.entry ??
  untried('what was published is not in the index, or cannot be read')
const kept = (release: typeof base) =>
  probe(async (run: CheckRun) => {
    const published = await release(run)
    return [await inspect(run, entryOf(published), published.made.bytes)]
  })
const richKept = kept(rich)
const foreignKept = kept(foreign)
const fetched = probe(async run => {
  const published = await base(run)
  return { made: published.made, answer: await download(run, entryOf(published)) }
})

/** A second version: the file before it and after it, and a question with the ETag of before. */
const second = probe(async run => {
  const { made, crate: before } = await base(run)
  const answer = await publish(run, await make(made.name, '1.1.0'))
  if (!answer.isDone) untried(`the publish was refused: ${answer}`)
  const crate = await settle(run, made.name, has('1.1.0'))
  const headers = { 'if-none-match': before.answer.header('etag') }
  return { before, crate, answer: await askFile(run, made.name, { headers }) }
})

const hasAll = ({ before, crate }: Awaited<ReturnType<typeof second>>) =>
  before.lines.every(({ text }) => crate.answer.text.includes(text))

const together = probe(async run => {
  const name = await nameOf(run, 'together')
  const all = await Promise.all(['1.0.0', '2.0.0', '3.0.0'].map(version => make(name, version)))
  // Else the refusal says something of the token, and nothing of these.
  await base(run)
  const answers = await Promise.all(all.map(made => publish(run, made)))
  const refused = answers.find(({ isDone }) => !isDone)
  return refused ?? (await settle(run, name, ({ lines }) => lines.length === 3)).lines.length
})

const answerTo = (word: string, toml = '', other: object = {}) =>
  probe(async run => {
    if (word !== 'first') await base(run)
    const made = await make(await nameOf(run, word), '1.0.0', toml)
    return publish(run, made, frame(JSON.stringify({ ...made.metadata, ...other }), made.bytes))
  })
const first = answerTo('first')
const taken = probe(async run => {
  const answer = await first(run)
  return answer.isDone ? answer : untried('the publish was refused')
})
const least = answerTo('least', '', { rust_version: undefined })
const unicode = answerTo('unicode', 'authors = ["Zoë ⚓ <zoe@example.com>", "\\"<b>&c"]\n')

export const publishRows = [
  new Table(book('registry-web-api.html#publish'), 'breaks publishing', 'write')
    .row('publish-done', 'a publish by the frame of Cargo is answered 200 to 299, without `errors`')
    .that(first, ({ isDone }) => isDone)
    .row('publish-least', 'metadata without `rust_version` is taken, as older Cargos send it')
    .that(least, ({ isDone }) => isDone)
    .row('publish-unicode', 'metadata may have any characters')
    .that(unicode, ({ isDone }) => isDone)
    .row('publish-warnings', '`warnings`, if there are any, are lists of texts')
    .that(taken, answer => Object.values(answer.at('warnings') ?? {}).every(isTexts))
    .row('publish-together', 'publishes of several versions at once all arrive')
    .that(together, count => count === 3),
  new Table(cargo('src/cargo/ops/registry/publish.rs'), 'breaks publishing', 'write')
    .row('publish-seen', 'what is published is in the index within a minute')
    .that(base, ({ crate }) => has('1.0.0')(crate)),
  new Table(cargo('src/cargo/ops/registry/publish.rs'), 'breaks publishing', 'write', 'http')
    .row('publish-changed', 'after a publish, the ETag of before gets the new file')
    .that(second, ({ answer }) => answer.status === 200),
  new Table(FORMAT, 'breaks publishing', 'write')
    .row('publish-kept', 'a publish leaves the lines of older versions as they were')
    .that(second, hasAll)
    .row('publish-capitals', 'a name with capitals keeps them, in a file in lower case')
    .that(capital, published => entryOf(published).name === published.made.name)
    .row('publish-build', 'a version keeps its pre-release and its build metadata')
    .that(build, ({ made, crate }) => has(made.version)(crate)),
  new Table(FORMAT, 'breaks builds', 'write')
    .row('publish-bytes', 'a download has the bytes that were published')
    .that(fetched, ({ made, answer }) => answer.status === 200 && answer.raw.equals(made.bytes))
    .row('publish-rename', 'a renamed dependency has its new name, and the real one as `package`')
    .by(same(richKept, ({ deps }) => deps.map(({ name, package: real }) => [name, real])))
    .row('publish-optional', 'a dependency keeps `optional`, `default_features` and `features`')
    .by(same(richKept, ({ deps }) => deps.map(d => [d.optional, d.default_features, d.features])))
    .row('publish-kinds', 'a dependency keeps its kind')
    .by(same(richKept, ({ deps }) => deps.map(({ kind }) => kind)))
    .row('publish-target', 'a dependency keeps its target')
    .by(same(richKept, ({ deps }) => deps.map(({ target }) => target)))
    .row('publish-req', 'a dependency keeps its requirement')
    .by(same(richKept, ({ deps }) => deps.map(({ req }) => req)))
    .row('publish-own', 'a dependency on the same registry has `registry` null')
    .by(same(richKept, ({ deps }) => deps.map(({ registry }) => registry)))
    .row('publish-crates-io', 'a dependency on crates.io keeps the address of its git index')
    .by(same(foreignKept, ({ deps }) => deps.map(({ registry }) => registry)))
    .row('publish-features', 'features are in the line')
    .by(same(richKept, ({ features }) => [features.default, features.plain]))
    .row('publish-strong', 'a feature with `dep:` is in the line')
    .by(same(richKept, ({ features }) => features.strong))
    .row('publish-weak', 'a feature with `?/` is in the line')
    .by(same(richKept, ({ features }) => features.weak)),
  new Table(FORMAT, 'differs', 'write')
    .row('publish-links', '`links` is in the line')
    .by(same(richKept, ({ links }) => links))
    .row('publish-rust-version', '`rust_version` is in the line')
    .by(same(richKept, ({ rust_version }) => rust_version)),
]
