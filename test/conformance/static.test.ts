import { staticDriver } from './driver-files.ts'
import { register } from './scenarios.ts'

register(staticDriver)
