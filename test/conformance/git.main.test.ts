import { gitDriver } from './driver-git.ts'
import { register } from './scenarios.ts'

register(gitDriver)
