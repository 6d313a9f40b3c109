import { cargoIsAtLeast } from '../support/cargo.ts'
import { gitDriver } from './driver-git.ts'
import { register } from './scenario.ts'
import { chosen } from './scenarios.ts'

// The web API is the same as with a sparse index; how Cargo finds versions is not.
const files = [
  'publish.ts',
  'resolve.ts',
  'faults.ts',
  'missing.ts',
  'update.ts',
  'features.ts',
  'yank.ts',
  'git-index.ts',
  'privacy-git.ts',
]
register(gitDriver, chosen(files, !cargoIsAtLeast(68)))
