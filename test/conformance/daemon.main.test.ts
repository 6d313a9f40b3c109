import { daemonDriver } from './driver-daemon.ts'
import { register } from './scenarios.ts'

register(daemonDriver)
