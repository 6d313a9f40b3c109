import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Cargo, cargoIsAtLeast } from '../support/cargo.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { writeProject } from '../support/project.ts'
import { send } from '../support/raw-publish.ts'
import { scratch } from '../support/scratch.ts'
import { until } from '../support/until.ts'
import type { Driver, Registry } from './driver.ts'
import { startDaemon } from './driver-daemon.ts'
import { registryTemplate } from './registry-template.ts'

/** The daemon for clients that have the index as a git repository. */
export const gitDriver: Driver = {
  name: 'daemon, git index',
  capabilities: ['api', 'git', 'faults'],
  async start(cleanup, folder, settings) {
    const registry = await startDaemon(cleanup, folder, settings)
    const { folder: template } = await registryTemplate()
    // The first commit has this daemon's URLs; until then clients would find the template's.
    const master = join(template, 'public', 'index.git', 'refs', 'heads', 'master')
    await moved(registry, readFileSync(master, 'utf8').trim())
    registry.requests.clear()
    return {
      ...registry,
      indexUrl: `${registry.baseUrl}/index.git`,
      cargoEnv: (await fetchesGit(cleanup)) ? {} : { CARGO_NET_GIT_FETCH_WITH_CLI: 'true' },
      async publish(cargo, projects) {
        for (const crate of projects)
          await committed(registry, () => registry.publish(cargo, [crate]), cargoIsAtLeast(66))
      },
      yank: (...yank) => committed(registry, () => registry.yank(...yank)),
    }
  },
}

let probe: Promise<boolean> | undefined

/**
 * Whether this cargo's own git works: Debian's `cargo-web` is linked to a libgit2 whose fetches all
 * fail.
 */
function fetchesGit(cleanup: Cleanup): Promise<boolean> {
  probe ??= tryGit(scratch(cleanup))
  return probe
}

async function tryGit(folder: string): Promise<boolean> {
  const toml = `[dependencies]\nnone = { git = "file://${folder}/none.git" }`
  const project = writeProject(join(folder, 'probe'), { name: 'probe', toml })
  const cratesIo = 'sparse+http://127.0.0.1:9/'
  const cargo = new Cargo(join(folder, 'home'), { registries: {}, cratesIo })
  const { stderr } = await cargo.fails(project.folder, 'fetch')
  return !stderr.includes('invalid version 0 on git_proxy_options')
}

/**
 * A change is answered before its commit is made: waits until HEAD has moved, unless Cargo itself
 * has waited.
 */
async function committed(
  registry: Registry,
  change: () => Promise<void>,
  isAwaited = false,
): Promise<void> {
  const before = isAwaited ? '' : await head(registry)
  await change()
  await moved(registry, before)
}

async function moved(registry: Registry, before: string): Promise<void> {
  await until(
    async () => (await head(registry)) !== before,
    () => `the git index of ${registry.baseUrl} is still at ${before}`,
  )
}

async function head(registry: Registry): Promise<string> {
  const headers = { authorization: registry.token ?? '' }
  const refs = '/index.git/info/refs?service=git-upload-pack'
  const answer = await send('GET', registry, refs, headers)
  const id = /([0-9a-f]{40}) HEAD/.exec(answer.bytes.toString())?.[1]
  assert.ok(id, `no HEAD in the refs of ${registry.baseUrl}`)
  return id
}
