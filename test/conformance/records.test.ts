import { recordsDriver } from './driver-files.ts'
import { register } from './scenarios.ts'

register(recordsDriver)
