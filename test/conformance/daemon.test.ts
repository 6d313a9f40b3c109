import { daemonDriver } from './driver-daemon.ts'
import { register } from './scenario.ts'
import { scenarios } from './scenarios.ts'

register(daemonDriver, scenarios)
