import { gitDriver } from './driver-git.ts'
import { register } from './scenario.ts'
import { scenarios } from './scenarios.ts'

register(gitDriver, scenarios)
