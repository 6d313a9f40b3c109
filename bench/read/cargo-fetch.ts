import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type PublishTarget, publishAll, publishBody } from '../support/publishing.ts'

/** Crates of a layer depend on some of the layer before. */
const LAYER = 30

/** Publishes crates that depend on each other, ten layers for 300; the names of the last layer. */
export async function publishLayers(
  target: PublishTarget,
  index: string,
  count: number,
): Promise<string[]> {
  const name = (layer: number, at: number) => `layer${layer}-part${at % LAYER}`
  let last: string[] = []
  for (let layer = 0; layer < count / LAYER; layer++) {
    last = Array.from({ length: LAYER }, (_, at) => name(layer, at))
    const bodies = last.map((own, at) => {
      const names = layer === 0 ? [] : [0, 1, 7].map(step => name(layer - 1, at + step))
      return publishBody(own, '1.0.0', 10_000, { index, names })
    })
    await publishAll(target, bodies, 16)
  }
  return last
}

/** Milliseconds of a `cargo fetch` with an empty Cargo home, for a project with dependencies. */
export async function coldFetch(
  folder: string,
  registry: string,
  dependencies: readonly string[],
  least: number,
): Promise<number> {
  const project = mkdtempSync(join(folder, 'project-'))
  mkdirSync(join(project, 'src'))
  mkdirSync(join(project, '.cargo'))
  writeFileSync(join(project, 'src/lib.rs'), '')
  const lines = dependencies.map(name => `${name} = { version = "1", registry = "bench" }\n`)
  const head =
    '[package]\nname = "project"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n'
  writeFileSync(join(project, 'Cargo.toml'), head + lines.join(''))
  const config = `[registries.bench]\nindex = "sparse+${registry}/index/"\n`
  writeFileSync(join(project, '.cargo/config.toml'), config)
  const env = { ...process.env, CARGO_HOME: join(project, 'home'), CARGO_TERM_COLOR: 'never' }
  const begin = performance.now()
  const { stderr } = await promisify(execFile)('cargo', ['fetch'], { cwd: project, env })
  const took = performance.now() - begin
  const fetched = stderr.match(/^ +Downloaded /gm)?.length ?? 0
  if (fetched < least) throw new Error(`cargo has fetched ${fetched} crates:\n${stderr}`)
  rmSync(project, { recursive: true })
  return took
}
