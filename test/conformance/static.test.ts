import { staticDriver } from './driver-static.ts'
import { register } from './scenario.ts'
import { scenarios } from './scenarios.ts'

register(staticDriver, scenarios)
