import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cargo } from '../support/cargo.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { writeProject } from '../support/project.ts'
import { send } from '../support/raw-publish.ts'
import { scratch } from '../support/scratch.ts'
import type { Driver } from './driver.ts'
import { startDaemon } from './driver-daemon.ts'

/** The daemon for clients that have the index as a git repository. */
export const gitDriver: Driver = {
  name: 'daemon, git index',
  capabilities: ['api', 'git', 'repository'],
  async start(cleanup, folder, settings) {
    const registry = await startDaemon(cleanup, folder, settings)
    return {
      ...registry,
      indexUrl: `${registry.baseUrl}/index.git`,
      cargoEnv: (await fetchesGit(cleanup)) ? {} : { CARGO_NET_GIT_FETCH_WITH_CLI: 'true' },
      yank: (...yank) => committed(registry.baseUrl, () => registry.yank(...yank)),
      unyank: (...yank) => committed(registry.baseUrl, () => registry.unyank(...yank)),
    }
  },
}

let probe: Promise<boolean> | undefined

/** Whether this cargo's own git works: Debian's `cargo-web` is linked to a libgit2 with which no fetch of it succeeds. */
function fetchesGit(cleanup: Cleanup): Promise<boolean> {
  probe ??= tryGit(scratch(cleanup))
  return probe
}

async function tryGit(folder: string): Promise<boolean> {
  const toml = `[dependencies]\nnone = { git = "file://${folder}/none.git" }`
  const project = writeProject(join(folder, 'probe'), { name: 'probe', toml })
  const cargo = new Cargo(join(folder, 'home'), { registries: {}, cratesIo: 'sparse+http://127.0.0.1:9/' })
  const { stderr } = await cargo.fails(project.folder, 'fetch')
  return !stderr.includes('invalid version 0 on git_proxy_options')
}

/** A yank is answered before its commit is made, and Cargo waits for publishes alone: waits until HEAD has moved. */
async function committed(baseUrl: string, change: () => Promise<void>): Promise<void> {
  const before = await head(baseUrl)
  await change()
  for (let tries = 0; tries < 100; tries++) {
    if ((await head(baseUrl)) !== before) return
    await sleep(100)
  }
  assert.fail(`the git index is still at ${before}, ten seconds after the change`)
}

async function head(baseUrl: string): Promise<string> {
  const answer = await send('GET', baseUrl, '/index.git/info/refs?service=git-upload-pack')
  const id = /([0-9a-f]{40}) HEAD/.exec(answer.bytes.toString())?.[1]
  assert.ok(id, `no HEAD in the refs of ${baseUrl}`)
  return id
}
