// The static way: a first build, and one after which nothing has changed. `npm run bench static`.
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { resolveSettings } from '../core/settings/settings.ts'
import { registryUrls } from '../core/urls/urls.ts'
import { buildStatic } from '../generator/static/build.ts'
import { buildCrate } from '../test/support/crate-builder.ts'
import { filesBelow } from '../test/support/folder.ts'

const BASE = 'https://crates.example'
const COUNTS = (process.env.PLIMSOLL_BENCH_CRATES ?? '500,10000').split(',').map(Number)
const work = join(dirname(fileURLToPath(import.meta.url)), '../../bench/.work/static')
const text = `[registry]\nbase_url = "${BASE}"\napi = "none"\n`
const { settings } = resolveSettings({ file: { name: 'plimsoll.toml', text } })
const urls = registryUrls(settings.registry, BASE)

/** Crates with a README, five source files, and a dependency on the one before. */
function fill(from: string, count: number): void {
  const code = Array.from({ length: 60 }, (_, at) => `pub fn f${at}() -> u32 {\n    ${at}\n}\n`)
  for (let at = 0; at < count; at++) {
    const needs = at === 0 ? '' : `[dependencies]\ncrate-${at - 1} = "1"\n`
    const files = Object.fromEntries(
      ['lib', 'one', 'two', 'three', 'four'].map(name => [`src/${name}.rs`, code.join('\n')]),
    )
    const path = join(from, `${at % 100}`, `crate-${at}.crate`)
    mkdirSync(dirname(path), { recursive: true })
    const manifest = `readme = "README.md"\n${needs}`
    const parts = { name: `crate-${at}`, version: '1.0.0', manifest }
    writeFileSync(
      path,
      buildCrate({ ...parts, files: { ...files, 'README.md': `# Crate ${at}\n\nText.\n` } }),
    )
  }
}

for (const count of COUNTS) {
  rmSync(work, { recursive: true, force: true })
  const [from, out] = [join(work, 'from'), join(work, 'out')]
  fill(from, count)
  for (const run of ['first', 'second', 'third']) {
    const [wall, processor] = [performance.now(), process.cpuUsage()]
    const { changed } = await buildStatic({ from, out, settings, urls, cache: join(work, 'cache') })
    const { user, system } = process.cpuUsage(processor)
    const seconds = ((performance.now() - wall) / 1000).toFixed(1)
    console.log(
      `${count} crates, ${run} build: ${seconds} s, ${((user + system) / 1e6).toFixed(1)} s of processor time, ${changed} files changed`,
    )
  }
  const size = statSync(join(work, 'cache')).size
  console.log(`${filesBelow(out).length} files, cache ${(size / 1e6).toFixed(1)} MB`)
}
rmSync(work, { recursive: true, force: true })
