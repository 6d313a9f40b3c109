import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Cargo, type CargoSettings } from '../../support/cargo.ts'
import { writeProject } from '../../support/project.ts'
import { type Address, publishAll, publishBody } from '../support/publishing.ts'

/** Crates of a layer depend on some of the layer before. */
const LAYER = 30

/** Publishes crates that depend on each other, ten layers for 300; the names of the last layer. */
export async function publishLayers(
  target: Address,
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
  registries: Pick<CargoSettings, 'registries' | 'cratesIo' | 'config'>,
  dependencies: readonly string[],
  least: number,
): Promise<number> {
  const place = mkdtempSync(join(folder, 'fetch-'))
  const [registry] = Object.keys(registries.registries)
  const from = registry === undefined ? '' : `, registry = "${registry}"`
  const lines = dependencies.map(name => `${name} = { version = "1"${from} }\n`)
  const toml = `[dependencies]\n${lines.join('')}`
  const project = writeProject(join(place, 'project'), { name: 'project', toml })
  const cargo = new Cargo(join(place, 'home'), registries)
  const begin = performance.now()
  const { stderr } = await cargo.ok(project.folder, 'fetch')
  const took = performance.now() - begin
  const fetched = stderr.match(/^ +Downloaded /gm)?.length ?? 0
  if (fetched < least) throw new Error(`cargo has fetched ${fetched} crates:\n${stderr}`)
  rmSync(place, { recursive: true })
  return took
}
