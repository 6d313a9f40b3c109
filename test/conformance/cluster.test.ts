import { isOnPostgres } from '../support/engine.ts'
import { clusterDriver } from './driver-cluster.ts'
import { register } from './scenario.ts'
import { chosen } from './scenarios.ts'

// What depends on the daemons' common state.
if (isOnPostgres) register(clusterDriver, chosen(['publish.ts', 'yank.ts', 'accounts.ts']))
else console.log(`conformance: ${clusterDriver.name}: played with PLIMSOLL_TEST_DATABASE=postgres`)
