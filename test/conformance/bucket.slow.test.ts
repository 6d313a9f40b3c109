import { bucketDriver } from './driver-daemon.ts'
import { register } from './scenarios.ts'

register(bucketDriver)
