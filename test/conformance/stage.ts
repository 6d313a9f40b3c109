import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import type { CrateText, Project } from '../support/project.ts'
import { writeProject, writeWorkspace } from '../support/project.ts'
import { send } from '../support/raw-publish.ts'
import type { Faults } from '../support/recording-proxy.ts'
import { scratch } from '../support/scratch.ts'
import type { Api, Driver, Files, Registry } from './driver.ts'
import type { StandIn } from './stand-in.ts'
import { openStandIn } from './stand-in.ts'

/** How a cargo differs from the plain one. */
export interface CargoWishes {
  readonly registries?: Readonly<Record<string, string>>
  readonly token?: string | null
  readonly config?: string
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Everything one scenario plays with: a registry under test, a stand-in for crates.io, cargos and
 * crates.
 */
export class Stage {
  readonly cleanup: Cleanup
  readonly folder: string
  readonly registry: Registry
  readonly cratesIo: StandIn
  #count = 0

  private constructor(cleanup: Cleanup, folder: string, registry: Registry, cratesIo: StandIn) {
    this.cleanup = cleanup
    this.folder = folder
    this.registry = registry
    this.cratesIo = cratesIo
  }

  static async open(t: TestContext, driver: Driver, settings: NodeJS.ProcessEnv): Promise<Stage> {
    const cleanup = new Cleanup(t)
    const folder = scratch(cleanup)
    const registry = await driver.start(cleanup, join(folder, 'registry'), settings)
    return new Stage(
      cleanup,
      folder,
      registry,
      await openStandIn(cleanup, join(folder, 'crates-io')),
    )
  }

  /** The web API's side of the registry; for scenarios that need `api`. */
  get api(): Api {
    assert.ok(this.registry.api)
    return this.registry.api
  }

  /** The registry's files; for scenarios that need `tree`. */
  get files(): Files {
    assert.ok(this.registry.files)
    return this.registry.files
  }

  /**
   * Puts faults between clients and registry, or takes them away; for scenarios that need `faults`.
   */
  interfere(faults?: Faults): void {
    assert.ok(this.registry.interfere)
    this.registry.interfere(faults)
  }

  /**
   * A cargo with cold caches that knows the registry as `test`, and the others given; null is no
   * token at all.
   */
  cargo(more: CargoWishes = {}): Cargo {
    const token = more.token === undefined ? this.registry.api?.token : more.token
    return new Cargo(this.place('home'), {
      registries: { test: this.registry.indexUrl, ...more.registries },
      cratesIo: this.cratesIo.indexUrl,
      tokens: typeof token === 'string' ? { test: token } : {},
      config: more.config ?? '',
      env: { ...this.registry.cargoEnv, ...more.env },
    })
  }

  /** Another registry that the registry under test knows nothing of. */
  otherRegistry(): Promise<StandIn> {
    return openStandIn(this.cleanup, this.place('other-registry'))
  }

  /** Writes a crate's sources. */
  crate(crate: CrateText): Project {
    return writeProject(this.place(crate.name), crate)
  }

  /** Writes a workspace; the folder and its members. */
  workspace(...crates: readonly CrateText[]): {
    readonly folder: string
    readonly members: Project[]
  } {
    const folder = this.place('workspace')
    return { folder, members: writeWorkspace(folder, crates) }
  }

  /** Writes crates and publishes them, in this order. */
  async publish(...crates: readonly CrateText[]): Promise<Project[]> {
    const projects = crates.map(crate => this.crate(crate))
    await this.registry.publish(this.cargo(), projects)
    return projects
  }

  /** A crate `app` that uses others and is published nowhere; its folder. */
  app(dependencies: string, source = ''): string {
    const toml = `[dependencies]\n${dependencies}`
    return this.crate({
      name: 'app',
      package: 'publish = false',
      toml,
      files: { 'src/lib.rs': source },
    }).folder
  }

  /** The index file of a crate, as a reader gets it. */
  async index(path: string): Promise<string> {
    const answer = await send('GET', this.registry, `/index/${path}`)
    assert.equal(answer.status, 200, `/index/${path}`)
    return answer.bytes.toString()
  }

  /** The bytes of a release, as a reader gets them. */
  async download(name: string, version: string): Promise<Buffer> {
    const answer = await send('GET', this.registry, `/crates/${name}/${name}-${version}.crate`)
    assert.equal(answer.status, 200, `${name} ${version}`)
    return answer.bytes
  }

  /** No cargo may have wandered off to crates.io where nothing there is part of the scenario. */
  expectNoStrayRequests(): void {
    if (!this.cratesIo.inUse()) assert.deepEqual(this.cratesIo.requests.lines, [])
  }

  /** A new path with nothing at it. */
  place(name: string): string {
    this.#count += 1
    return join(this.folder, `${this.#count}-${name}`)
  }
}
