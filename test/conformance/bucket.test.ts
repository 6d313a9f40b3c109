import { bucketDriver } from './driver-bucket.ts'
import { register } from './scenario.ts'
import { scenarios, subjects } from './scenarios.ts'

/**
 * Only the place of bytes differs from the other daemon: publishes and downloads are played every
 * time, all on demand.
 */
const bytes = ['publish.ts']

const isFull = process.env.PLIMSOLL_CONFORMANCE === 'full'
register(bucketDriver, isFull ? scenarios : bytes.flatMap(file => subjects[file] ?? []))
