import { isOnPostgres } from '../support/engine.ts'
import { clusterDriver } from './driver-daemon.ts'
import { register } from './scenarios.ts'

if (isOnPostgres) register(clusterDriver)
else console.log(`conformance: ${clusterDriver.name}: played with PLIMSOLL_TEST_DATABASE=postgres`)
