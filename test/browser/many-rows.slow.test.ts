// Mirrors site/crate/: crates of strangers with very long lists, and long documents
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { buildCrate } from '../support/crate-builder.ts'
import { type HarbourRelease, writeCrates } from '../support/harbour.ts'
import { inventedEntries } from '../support/many-crates.ts'
import { plimsoll } from '../support/plimsoll.ts'
import { searchFiles } from '../support/whole-search.ts'
import { longest, TASK_MAX } from './longest.ts'
import { openPlaces } from './places.ts'

const VERSIONS = 1200
const DEPENDENTS = 1500
const FEATURES = 10_000
const DEPENDENCIES = 500
const CRATES = 30_000
/** The largest README that a registry keeps, by default. */
const README = 256 * 1024

/** Twelve letters of a script in which browsers look up where words end. */
const THAI = 'สวัสดีชาวโลก'

const WORD = THAI.repeat(2000)

/** READMEs that are costly to show. */
const COSTLY: Record<string, string> = {
  tables: '| a | b |\n|---|---|\n'.concat('| [x](#y) | `z` |\n'.repeat(100)).concat('\n'),
  lists: '- [x] *a* `b`\n  - c\n    1. d\n',
  code: '```rust\nfn f(x: u8) -> u8 { x + 1 } // one\n```\n\n',
  words: `${'word '.repeat(2000)}\n\n`,
  arabic: `- ${'مرحبا *word* '.repeat(20)}\n`,
  thai: `${THAI.repeat(100)} `,
  'one-word': THAI,
  mixed: 'مرحبا word ',
  headings: '## heading\n\n> quote [^1]\n\n',
}

function costly(text: string): string {
  const lines = text.repeat(Math.ceil(README / Buffer.byteLength(text)))
  return Buffer.from(lines)
    .subarray(0, README)
    .toString()
    .replace(/\n[^\n]*$/, '\n')
}

function releases(index: string): HarbourRelease[] {
  const crate = (name: string, version: string, manifest = '', files = {}) => {
    const bytes = buildCrate({ name, version, manifest, files: { 'src/lib.rs': '', ...files } })
    return { name, version, bytes, at: '2026-01-01T00:00:00Z', by: 'ada' }
  }
  const own = (name: string) =>
    `[dependencies.${name}]\nversion = "9"\nregistry-index = "${index}"\n`
  const numbers = (length: number) => Array.from({ length }, (_, at) => at)
  const many = (length: number, make: (at: number) => string) => numbers(length).map(make).join('')
  const about = (name: string) =>
    `[package]\nname = "${name}"\nversion = "1.0.0"\ndescription = "x"\nlicense = "MIT"\n`
  const item = (at: number) =>
    `[dependencies.d${at}]\nversion = "1"\nfeatures = [${numbers(60).map(of => `"f${of}"`)}]\n`
  const target = (at: number) =>
    `[target.'cfg(a = "${at}${THAI.repeat(50)}")'.dependencies]\nd${at} = "1"\n`
  const named = (at: number, of: number) => `"${THAI.repeat(130)}${at}x${of}" = []\n`
  const features = numbers(FEATURES).map(at => `f${at} = ["f${(at * 7) % FEATURES}"]\n`)
  return [
    ...numbers(VERSIONS).map(at => crate('rope', `0.${at}.0`)),
    ...numbers(DEPENDENTS).map(at => crate(`needs-${at}`, '1.0.0', own('rope'))),
    crate('features', '1.0.0', `[features]\n${features.join('')}`),
    crate(
      'wide',
      '1.0.0',
      many(DEPENDENCIES, at => own(`needs-${at}`)),
    ),
    crate('values', '1.0.0', `${about('values')}edition = "${WORD}"\nlinks = "${WORD}"\n`),
    crate('items', '1.0.0', many(DEPENDENCIES, item)),
    crate('targets', '1.0.0', many(DEPENDENCIES, target)),
    ...numbers(102).map(at =>
      crate('names', `1.${at}.0`, `[features]\n${many(3, of => named(at, of))}`),
    ),
    ...Object.entries(COSTLY).map(([name, text]) =>
      crate(`costly-${name}`, '1.0.0', 'readme = "README.md"', { 'README.md': costly(text) }),
    ),
  ]
}

/** A static tree with these crates, and with the search files of more crates. */
const { still, look } = openPlaces({
  async still(out, url) {
    const from = `${out}-from`
    writeCrates(from, releases(`sparse+${url}/index/`), url)
    const env = { PLIMSOLL_POLICY_FEATURES_MAX: String(FEATURES) }
    const { code, stderr } = await plimsoll(out, ['build', '--from', from, '--out', out], env)
    assert.equal(code, 0, stderr)
    for (const { path, bytes } of searchFiles(inventedEntries(CRATES))) {
      mkdirSync(dirname(join(out, path)), { recursive: true })
      writeFileSync(join(out, path), bytes)
    }
  },
  live: async () => {},
})

/** Asserts that a page keeps its reader waiting for no longer than it may: best of three runs. */
async function isQuick(page: Page, what: string, work: () => Promise<unknown>): Promise<void> {
  const runs: number[] = []
  while (runs.length < 3 && !runs.some(ms => ms < TASK_MAX)) runs.push(await longest(page, work))
  console.error(`${what}: ${runs.map(Math.round).join(', ')} ms`)
  assert.ok(Math.min(...runs) < TASK_MAX, `${what}: busy for ${runs.join(', ')} ms`)
}

const pages: [path: string, wait: string][] = [
  ['crates/rope/#versions', '#versions:visible'],
  ['crates/rope/versions/', '#version-rows'],
  ['crates/rope/#dependents', '#dependents:visible'],
  ['crates/rope/compare/', '[data-view] h2'],
  ['crates/features/#features', '#features:visible'],
  ['crates/wide/#dependencies', '#dependencies .note'],
  ['crates/values/', '.about'],
  ['crates/items/#dependencies', '#dependencies:visible'],
  ['crates/targets/#dependencies', '#dependencies:visible'],
  ['crates/names/#versions', '#versions:visible'],
  ['crates/names/#features', '#features:visible'],
  ['crates/', '.card'],
  ['lists/dependents.html', '.card'],
  ...Object.keys(COSTLY).flatMap((name): [string, string][] => [
    [`crates/costly-${name}/`, '#readme:visible'],
    [`crates/costly-${name}/1.0.0/src/#README.md`, '[aria-label=Rendered][aria-busy=false]'],
  ]),
]

for (const [path, wait] of pages)
  test(`${path} keeps its reader waiting for less than ${TASK_MAX} ms`, () =>
    look(still, path, page =>
      isQuick(page, path, async () => {
        await page.reload()
        await page.locator(wait).first().waitFor({ timeout: 60_000 })
      }),
    ))

test('a filter of many versions, a selector and a comparison answer at once', async () => {
  await look(still, 'crates/rope/#versions', async page => {
    const input = page.locator('.filter input')
    await isQuick(page, 'filter', async () => {
      await input.fill('0.1')
      await page.locator('.filter output:not(:empty)').waitFor()
      await input.fill('')
    })
  })
  await look(still, 'crates/rope/0.7.0/', async page => {
    await isQuick(page, 'selector', async () => {
      await page.reload()
      await page.locator('.selector summary').click()
      await page.locator('.selector li').nth(4).waitFor()
    })
  })
  await look(still, 'crates/rope/compare/', async page => {
    await isQuick(page, 'compare', async () => {
      await page.locator('select[name=from]').selectOption(`0.${VERSIONS - 900}.0`)
      await page.getByRole('button', { name: 'Compare' }).click()
      await page.locator('[data-view] h2', { hasText: `0.${VERSIONS - 900}.0` }).waitFor()
      await page.locator('select[name=from]').selectOption(`0.${VERSIONS - 2}.0`)
      await page.getByRole('button', { name: 'Compare' }).click()
    })
  })
})

test('a search among many crates answers at once', async () => {
  await look(still, 'crates/', async page => {
    await isQuick(page, 'suggestions', async () => {
      await page.locator('input[name=q]').fill('s')
      await page.locator('[role=option]').first().waitFor()
      await page.locator('input[name=q]').fill('')
    })
  })
  for (const query of ['q=s', 'q=ser+http&sort=dependents', 'q=a+b+c&page=9'])
    await look(still, `search/?${query}`, page =>
      isQuick(page, query, async () => {
        await page.reload()
        await page.locator('.lead:not(:empty)').waitFor()
      }),
    )
})
