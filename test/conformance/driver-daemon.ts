import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { putRelease, refusal } from '../support/raw-publish.ts'
import { RecordingProxy } from '../support/recording-proxy.ts'
import type { Driver, Registry } from './driver.ts'

/** One process for readers and writers, the index over sparse HTTP; a recording proxy stands before it. */
export const daemonDriver: Driver = {
  name: 'daemon, sparse index',
  capabilities: ['sparse', 'api', 'repository'],
  start: (cleanup, folder, settings) => startDaemon(cleanup, folder, settings),
}

export async function startDaemon(cleanup: Cleanup, folder: string, settings: NodeJS.ProcessEnv): Promise<Registry> {
  mkdirSync(folder)
  const proxy = await RecordingProxy.start(cleanup)
  const command = async (...args: readonly string[]): Promise<string> => {
    const ended = await plimsoll(folder, [...args, '--dir', join(folder, 'registry')])
    return expectCode(`plimsoll ${args.join(' ')}`, ended, 0).stdout
  }
  await command('init', '--base-url', proxy.url)
  const addUser = async (name: string): Promise<string> => {
    await command('user', 'add', name)
    return (await command('token', 'create', '--user', name)).trim()
  }
  const token = await addUser('sailor')
  const daemon = await serve(cleanup, join(folder, 'registry'), settings)
  proxy.passTo(daemon.url)
  return {
    baseUrl: proxy.url,
    indexUrl: `sparse+${proxy.url}/index/`,
    requests: proxy.requests,
    stampsReleases: true,
    api: { token, addUser, log: daemon.log },
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
    async offer(name, version, bytes) {
      return refusal(await putRelease(proxy.url, token, { name, vers: version }, bytes))
    },
  }
}
