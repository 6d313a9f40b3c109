import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Cargo, cargoVersion } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { type CrateText, type Project, writeProject, writeWorkspace } from '../support/project.ts'
import { send } from '../support/raw-publish.ts'
import { scratch } from '../support/scratch.ts'
import type { Driver, Registry } from './driver.ts'
import { filesGitDriver, staticDriver } from './driver-files.ts'

/** How a cargo differs from the plain one. */
interface CargoWishes {
  readonly registries?: Readonly<Record<string, string>>
  readonly config?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Opens a registry beside the one under test, of a kind that the client can read. */
export function openStandIn(cleanup: Cleanup, folder: string): Promise<Registry> {
  const driver = staticDriver.unfit?.(cargoVersion.minor) ? filesGitDriver : staticDriver
  return driver.start(cleanup, folder, {})
}

/**
 * Everything one scenario plays with: a registry under test, a stand-in for crates.io, cargos and
 * crates.
 */
export class Stage {
  readonly registry: Registry
  readonly cratesIo: Registry
  readonly folder: string
  readonly #cleanup: Cleanup
  #count = 0

  private constructor(cleanup: Cleanup, folder: string, registry: Registry, cratesIo: Registry) {
    this.#cleanup = cleanup
    this.folder = folder
    this.registry = registry
    this.cratesIo = cratesIo
  }

  static async open(t: TestContext, driver: Driver, settings: NodeJS.ProcessEnv): Promise<Stage> {
    const cleanup = new Cleanup(t)
    const folder = scratch(cleanup)
    const registry = await driver.start(cleanup, join(folder, 'registry'), settings)
    const cratesIo = await openStandIn(cleanup, join(folder, 'crates-io'))
    return new Stage(cleanup, folder, registry, cratesIo)
  }

  /** A cargo with cold caches that knows the registry as `test`, and the others given. */
  cargo({ registries, config, env }: CargoWishes = {}): Cargo {
    const { indexUrl, token, cargoEnv } = this.registry
    return new Cargo(this.place('home'), {
      registries: { test: indexUrl, ...registries },
      cratesIo: this.cratesIo.indexUrl,
      tokens: token === undefined ? {} : { test: token },
      config: config ?? '',
      env: { ...cargoEnv, ...env },
    })
  }

  /** Another registry that the registry under test knows nothing of. */
  otherRegistry(): Promise<Registry> {
    return openStandIn(this.#cleanup, this.place('other-registry'))
  }

  /** Writes a crate's sources. */
  crate(crate: CrateText): Project {
    return writeProject(this.place(crate.name), crate)
  }

  /** Writes a workspace; its folder. */
  workspace(...crates: readonly CrateText[]): string {
    const folder = this.place('workspace')
    writeWorkspace(folder, crates)
    return folder
  }

  /** Writes crates and publishes them, in this order. */
  async publish(...crates: readonly CrateText[]): Promise<void> {
    const projects = crates.map(crate => this.crate(crate))
    await this.registry.publish(this.cargo(), projects)
  }

  /** A crate `app` that uses others and is published nowhere; its folder. */
  app(dependencies: string, source = ''): string {
    const toml = `[dependencies]\n${dependencies}`
    const files = { 'src/lib.rs': source }
    return this.crate({ name: 'app', package: 'publish = false', toml, files }).folder
  }

  /** What a reader with the token gets at a path, with its status. */
  async read(path: string): Promise<string> {
    const { token } = this.registry
    const headers = token === undefined ? {} : { authorization: token }
    const { status, bytes } = await send('GET', this.registry, path, headers)
    return `${status} ${bytes}`
  }

  /** A new path with nothing at it. */
  place(name: string): string {
    this.#count += 1
    return join(this.folder, `${this.#count}-${name}`)
  }
}
