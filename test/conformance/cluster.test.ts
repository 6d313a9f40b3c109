import { isOnPostgres } from '../support/engine.ts'
import { clusterDriver } from './driver-cluster.ts'
import { register } from './scenario.ts'
import { scenarios, subjects } from './scenarios.ts'

/** The scenarios about daemons' common state are played every time, all on demand. */
const common = ['publish.ts', 'yank.ts', 'accounts.ts']

const isFull = process.env.PLIMSOLL_CONFORMANCE === 'full'
if (isOnPostgres)
  register(clusterDriver, isFull ? scenarios : common.flatMap(file => subjects[file] ?? []))
else console.log(`conformance: ${clusterDriver.name}: played with PLIMSOLL_TEST_DATABASE=postgres`)
