import { filesGitDriver } from './driver-files-git.ts'
import { register } from './scenario.ts'
import { scenarios } from './scenarios.ts'

register(filesGitDriver, scenarios)
