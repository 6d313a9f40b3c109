import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { FileServer } from '../support/file-server.ts'
import { plimsollHere } from '../support/program.ts'
import type { Driver, Registry } from './driver.ts'
import { readsSparse } from './driver.ts'
import { packageProjects } from './package-projects.ts'

/**
 * The static way: `.crate` files in a folder, `plimsoll build --from`, and a dumb file server over
 * the result.
 */
export const staticDriver: Driver = {
  name: 'static tree',
  capabilities: ['sparse', 'no-api', 'tree', 'headers'],
  unfit: readsSparse,
  start: openStatic,
}

/**
 * A static registry; its tree is an empty folder until the first release, a build of nothing is
 * refused.
 */
export async function openStatic(
  cleanup: Cleanup,
  folder: string,
  settings: NodeJS.ProcessEnv = {},
): Promise<Registry> {
  const crates = join(folder, 'crates')
  const tree = join(folder, 'public')
  mkdirSync(crates, { recursive: true })
  mkdirSync(tree)
  const server = await FileServer.start(cleanup, tree)
  const yanked = new Set<string>()

  const tryBuild = async (): Promise<string | null> => {
    const list = [...yanked].map(release => JSON.stringify(release)).join(', ')
    writeFileSync(
      join(crates, 'plimsoll.toml'),
      `yanked = [${list}]\n\n[registry]\nbase_url = "${server.url}"\n`,
    )
    const ended = await plimsollHere(['build', '--from', crates, '--out', tree], settings)
    if (ended.code === 1) return ended.stderr
    expectCode('plimsoll build --from', ended, 0)
    return null
  }
  const build = async (): Promise<void> => assert.equal(await tryBuild(), null)
  return {
    baseUrl: server.url,
    indexUrl: `sparse+${server.url}/index/`,
    requests: server.requests,
    stampsReleases: false,
    files: {
      tree,
      rebuild: build,
      async remove(name, version) {
        rmSync(join(crates, `${name}-${version}.crate`))
        await build()
      },
    },
    publish: (cargo, projects) =>
      packageProjects(cargo, projects, async files => {
        for (const file of files) copyFileSync(file, join(crates, basename(file)))
        await build()
      }),
    async yank(_cargo, name, version) {
      yanked.add(`${name}@${version}`)
      await build()
    },
    async unyank(_cargo, name, version) {
      yanked.delete(`${name}@${version}`)
      await build()
    },
    async offer(name, version, bytes) {
      const file = join(crates, `${name}-${version}.crate`)
      writeFileSync(file, bytes)
      const objection = await tryBuild()
      if (objection === null) return null
      rmSync(file)
      assert.match(objection, new RegExp(`${name}-${version}\\.crate`))
      return objection
    },
  }
}
