import { bucketDriver } from './driver-bucket.ts'
import { register } from './scenario.ts'
import { scenarios, subjects } from './scenarios.ts'

/**
 * Only where bytes are is not the same as with the other daemon: what publishes and downloads is
 * played every time, all on demand.
 */
const bytes = ['publish.ts']

const isFull = process.env.PLIMSOLL_CONFORMANCE === 'full'
register(bucketDriver, isFull ? scenarios : bytes.flatMap(file => subjects[file] ?? []))
