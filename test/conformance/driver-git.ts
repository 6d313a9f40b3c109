import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../support/raw-publish.ts'
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
      yank: (...yank) => committed(registry.baseUrl, () => registry.yank(...yank)),
      unyank: (...yank) => committed(registry.baseUrl, () => registry.unyank(...yank)),
    }
  },
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
