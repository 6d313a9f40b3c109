import { cargoVersion } from '../support/cargo.ts'
import type { Cleanup } from '../support/cleanup.ts'
import type { Driver, Registry } from './driver.ts'
import { filesGitDriver } from './driver-files-git.ts'
import { staticDriver } from './driver-static.ts'

/** A registry beside the one under test. */
export interface StandIn extends Registry {
  /** Whether there is anything in it to ask for. */
  readonly inUse: () => boolean
}

/** Opens one, of a kind that the client can read. */
export async function openStandIn(cleanup: Cleanup, folder: string): Promise<StandIn> {
  const driver: Driver = staticDriver.unfit?.(cargoVersion.minor) ? filesGitDriver : staticDriver
  const registry = await driver.start(cleanup, folder, {})
  let releases = 0
  return {
    ...registry,
    async publish(cargo, projects) {
      releases += projects.length
      await registry.publish(cargo, projects)
    },
    inUse: () => releases > 0,
  }
}
