import { startEngine } from '../support/s3/engine.ts'
import { environmentOf } from '../support/s3/environment.ts'
import type { Driver } from './driver.ts'
import { readsSparse } from './driver.ts'
import { startDaemon } from './driver-daemon.ts'

const BUCKETS = { crates: 's3://test/crates', public: 's3://test/www' }

/** The daemon with its crates in a bucket, and a copy of the tree. */
export const bucketDriver: Driver = {
  name: 'daemon, crates and tree in a bucket',
  capabilities: ['sparse', 'api', 'repository', 'headers', 'faults'],
  unfit: readsSparse,
  start: async (cleanup, folder, settings) => {
    const s3 = await startEngine(cleanup)
    return startDaemon(cleanup, folder, { ...environmentOf(s3, BUCKETS), ...settings })
  },
}
