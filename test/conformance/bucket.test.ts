import { bucketDriver } from './driver-bucket.ts'
import { register } from './scenario.ts'
import { chosen } from './scenarios.ts'

// Only the place of bytes differs from the other daemon.
register(bucketDriver, chosen(['publish.ts']))
