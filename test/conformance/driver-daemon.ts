import { join } from 'node:path'
import type { Cleanup } from '../support/cleanup.ts'
import { serveHere } from '../support/program.ts'
import { type Origin, putRelease, refusal } from '../support/raw-publish.ts'
import { RecordingProxy } from '../support/recording-proxy.ts'
import { type Driver, type Registry, readsSparse } from './driver.ts'
import { addUser, copyTemplate } from './registry-template.ts'

/** One daemon for readers and writers, the index over sparse HTTP, behind a recording proxy. */
export const daemonDriver: Driver = {
  name: 'daemon, sparse index',
  capabilities: ['sparse', 'api', 'repository', 'headers', 'faults', 'folder'],
  unfit: readsSparse,
  start: (cleanup, folder, settings) => startDaemon(cleanup, folder, settings),
}

/** The folders of a daemon. */
export interface DaemonPlace {
  /** Folder of the test's own. */
  readonly folder: string
  /** Folder of the registry. */
  readonly home: string
  readonly token: string
  readonly log: () => string
}

export async function startDaemon(
  cleanup: Cleanup,
  folder: string,
  settings: NodeJS.ProcessEnv,
): Promise<Registry> {
  const home = join(folder, 'registry')
  const token = await copyTemplate(cleanup, home)
  const proxy = await RecordingProxy.start(cleanup)
  const daemon = await serveHere(cleanup, home, {
    PLIMSOLL_REGISTRY_BASE_URL: proxy.url,
    ...settings,
  })
  proxy.passTo(daemon.url)
  return {
    ...daemonRegistry({ baseUrl: proxy.url }, { folder, home, token, log: daemon.log }),
    requests: proxy.requests,
    interfere: faults => proxy.interfere(faults),
  }
}

/** The registry of a daemon, the same for all ways of reaching it. */
export function daemonRegistry(origin: Origin, place: DaemonPlace): Omit<Registry, 'requests'> {
  const { folder, home, token, log } = place
  return {
    ...origin,
    indexUrl: `sparse+${origin.baseUrl}/index/`,
    stampsReleases: true,
    api: { token, folder: home, addUser: name => addUser(home, name), log },
    async publish(cargo, projects) {
      for (const { folder: project } of projects) {
        await cargo.ok(project, 'publish', '--no-verify', '--allow-dirty', '--registry', 'test')
      }
    },
    async yank(cargo, name, version) {
      await cargo.ok(folder, 'yank', '--registry', 'test', `${name}@${version}`)
    },
    async unyank(cargo, name, version) {
      await cargo.ok(folder, 'yank', '--undo', '--registry', 'test', `${name}@${version}`)
    },
    async offer(name, version, bytes, deps = []) {
      return refusal(await putRelease(origin, token, { name, vers: version, deps }, bytes))
    },
  }
}
