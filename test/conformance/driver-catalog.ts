import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cleanup } from '../support/cleanup.ts'
import type { Run } from '../support/command.ts'
import { expectCode } from '../support/command.ts'
import { FileServer } from '../support/file-server.ts'
import { plimsollHere } from '../support/program.ts'
import type { Driver, Registry } from './driver.ts'
import { readsSparse } from './driver.ts'
import { packageProjects } from './package-projects.ts'

/**
 * A registry folder kept by `plimsoll add` and `plimsoll yank`, without an API; a dumb file server
 * over its tree.
 */
export const catalogDriver: Driver = {
  name: 'catalog, static tree',
  capabilities: ['sparse', 'no-api', 'repository', 'headers'],
  unfit: readsSparse,
  start: startCatalog,
}

export async function startCatalog(
  cleanup: Cleanup,
  folder: string,
  settings: NodeJS.ProcessEnv,
): Promise<Registry> {
  mkdirSync(folder)
  const home = join(folder, 'registry')
  const server = await FileServer.start(cleanup, join(home, 'public'))
  const run = (...args: readonly string[]): Promise<Run> =>
    plimsollHere([...args, '--dir', home], settings)
  const command = async (...args: readonly string[]): Promise<void> => {
    expectCode(`plimsoll ${args.join(' ')}`, await run(...args), 0)
  }
  await command('init', '--base-url', server.url, '--api', 'none')
  return {
    baseUrl: server.url,
    indexUrl: `sparse+${server.url}/index/`,
    requests: server.requests,
    stampsReleases: true,
    publish: (cargo, projects) =>
      packageProjects(cargo, projects, files => command('add', ...files)),
    async yank(_cargo, name, version) {
      await command('yank', `${name}@${version}`)
    },
    async unyank(_cargo, name, version) {
      await command('yank', '--undo', `${name}@${version}`)
    },
    async offer(name, version, bytes) {
      const file = join(folder, `${name}-${version}.crate`)
      writeFileSync(file, bytes)
      const ended = await run('add', file)
      if (ended.code === 1) return ended.stderr
      expectCode('plimsoll add', ended, 0)
      return null
    },
  }
}
