import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from '../support/plimsoll.ts'
import { RecordingProxy } from '../support/recording-proxy.ts'
import { startEngine } from '../support/s3/engine.ts'
import { environmentOf } from '../support/s3/environment.ts'
import type { Driver } from './driver.ts'
import { readsSparse } from './driver.ts'
import { daemonRegistry } from './driver-daemon.ts'
import { copyTemplate } from './registry-template.ts'

const BUCKETS = { crates: 's3://test/crates', public: 's3://test/www' }
const DAEMONS = 2

/**
 * Daemons on one PostgreSQL server and one bucket behind a load balancer, which gives each request
 * to another daemon than the last. Needs a run on PostgreSQL, because a catalog in a file is for
 * one machine.
 */
export const clusterDriver: Driver = {
  name: 'two daemons, records on PostgreSQL, crates and tree in a bucket',
  capabilities: ['sparse', 'api', 'headers', 'faults'],
  unfit: readsSparse,
  start: async (cleanup, folder, settings) => {
    const homes = Array.from({ length: DAEMONS }, (_, at) => join(folder, `registry-${at}`))
    const [home = '', ...others] = homes
    const token = await copyTemplate(cleanup, home)
    for (const other of others) cpSync(home, other, { recursive: true })
    const s3 = await startEngine(cleanup)
    const proxy = await RecordingProxy.start(cleanup)
    const env = {
      PLIMSOLL_REGISTRY_BASE_URL: proxy.url,
      // Each daemon would have its own git index.
      PLIMSOLL_GIT_INDEX: 'off',
      ...environmentOf(s3, BUCKETS),
      ...settings,
    }
    const daemons = await Promise.all(homes.map(each => serve(cleanup, each, env)))
    proxy.passTo(...daemons.map(({ url }) => url))
    const log = () => daemons.map(daemon => daemon.log()).join('\n')
    return {
      ...daemonRegistry({ baseUrl: proxy.url }, { folder, home, token, log }),
      daemons: DAEMONS,
      requests: proxy.requests,
      interfere: faults => proxy.interfere(faults),
    }
  },
}
