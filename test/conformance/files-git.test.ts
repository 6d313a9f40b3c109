import { filesGitDriver } from './driver-files.ts'
import { register } from './scenarios.ts'

register(filesGitDriver)
