import { catalogDriver } from './driver-files.ts'
import { register } from './scenarios.ts'

register(catalogDriver)
