import { catalogDriver } from './driver-catalog.ts'
import { register } from './scenario.ts'
import { scenarios } from './scenarios.ts'

register(catalogDriver, scenarios)
