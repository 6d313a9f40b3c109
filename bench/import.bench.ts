/**
 * Taking over another registry, with everything on: its tree of index and `.crate` files, then
 * rendering, pages and git index. Two sizes: what a version costs must not grow with the registry.
 * At last the same again, which finds all of it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveSettings } from '../core/settings/settings.ts'
import { registryUrls } from '../core/urls/urls.ts'
import { build } from '../generator/build/build.ts'
import { GitIndex } from '../generator/git/git-index.ts'
import { importAll } from '../generator/import/import.ts'
import { openSource } from '../generator/import/source/open.ts'
import { buildPages } from '../generator/pages/pages.ts'
import { initRegistry, openRegistry, type Registry } from '../generator/registry.ts'
import { buildStatic } from '../generator/static/build.ts'
import { buildCrate } from '../test/support/crate-builder.ts'

const SIZES = [100, 1000]
const VERSIONS = 5
const OLD = 'https://old.example'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
try {
  for (const crates of SIZES) await measure(crates)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measure(crates: number): Promise<void> {
  const source = await makeSource(join(folder, `source-${crates}`), crates)
  const dir = join(folder, `registry-${crates}`)
  await initRegistry(dir, { env: {} }, { 'registry.base_url': 'https://new.example' })
  const registry = await openRegistry(dir, { env: {} })
  await build(registry)
  const count = crates * VERSIONS
  console.log(`${crates} crates of ${VERSIONS} versions`)
  const steps: [string, () => Promise<unknown>][] = [
    ['records and bytes', () => takeIn(registry, source, count)],
    ['index files', () => build(registry)],
    ['pages and feeds', () => buildPages(registry)],
    ['git index', () => commit(registry)],
  ]
  const whole: Cost = { ms: 0, cpu: 0 }
  for (const [what, step] of steps) {
    const { ms, cpu } = await timed(what, count, step)
    whole.ms += ms
    whole.cpu += cpu
  }
  report('all of it', count, whole)
  await timed('the same again', count, () => takeIn(registry, source, 0))
  await registry.close()
}

/** Milliseconds by the clock, and of the processor, which other programs do not lengthen. */
interface Cost {
  ms: number
  cpu: number
}

async function timed(what: string, versions: number, step: () => Promise<unknown>): Promise<Cost> {
  const [start, before] = [performance.now(), process.cpuUsage()]
  await step()
  const { user, system } = process.cpuUsage(before)
  const cost = { ms: performance.now() - start, cpu: (user + system) / 1000 }
  report(what, versions, cost)
  return cost
}

function report(what: string, versions: number, { ms, cpu }: Cost): void {
  const rate = ((versions / ms) * 1000).toFixed(0).padStart(6)
  const each = (cpu / versions).toFixed(2).padStart(6)
  console.log(
    `  ${what.padEnd(18)} ${(ms / 1000).toFixed(1).padStart(6)} s ${rate} versions/s ${each} ms of CPU each`,
  )
}

async function takeIn(registry: Registry, source: string, expected: number): Promise<void> {
  const opened = await openSource({ source })
  const change = { at: '2026-11-20T12:00:00Z', actor: 'command line', user: null, tokenId: null }
  let added = 0
  for await (const { outcome, issues } of importAll(registry, opened, {
    change,
    source,
    owner: null,
  })) {
    if (outcome === 'added') added++
    else if (outcome === 'refused') throw new Error(issues.map(one => one.message).join('; '))
  }
  await opened.close?.()
  if (added !== expected) throw new Error(`${added} versions were added, not ${expected}`)
}

async function commit(registry: Registry): Promise<void> {
  const git = await GitIndex.open(registry)
  await git?.commit()
  await git?.close()
}

/** A tree as another registry would serve it; each crate depends on the one before it. */
async function makeSource(path: string, crates: number): Promise<string> {
  const from = join(path, 'crates')
  mkdirSync(from, { recursive: true })
  for (let number = 0; number < crates; number++) {
    for (let minor = 0; minor < VERSIONS; minor++) {
      const [name, version] = [`crate-${number}`, `1.${minor}.0`]
      const needs = `[dependencies]\ncrate-${number - 1} = { version = "1", registry-index = "sparse+${OLD}/index/" }\n`
      const manifest = `keywords = ["parser", "testing"]\nreadme = "README.md"\n${number > 0 ? needs : ''}`
      const files = {
        'README.md': `# ${name}\n\n${'Some words about what it is good for. '.repeat(40)}\n`,
      }
      writeFileSync(
        join(from, `${name}-${version}.crate`),
        buildCrate({ name, version, manifest, files }),
      )
    }
  }
  const file = { name: 'plimsoll.toml', text: `[registry]\nbase_url = "${OLD}"\napi = "none"\n` }
  const { settings } = resolveSettings({ file })
  const out = join(path, 'tree')
  await buildStatic({
    from,
    out,
    settings,
    urls: registryUrls(settings.registry, OLD),
    cache: null,
  })
  return out
}
