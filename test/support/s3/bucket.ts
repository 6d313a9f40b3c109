import { BucketPlace } from '../../../generator/places/bucket-place.ts'
import type { Cleanup } from '../cleanup.ts'
import { environmentOf, type TestS3 } from './environment.ts'
import { FakeS3 } from './server.ts'

/** Starts the in-process S3 until the test ends. */
export function startS3(cleanup: Cleanup): Promise<FakeS3> {
  return FakeS3.start(cleanup)
}

/** The bucket of an S3, below a prefix; `budget` in milliseconds as in its options. */
export function bucketOn(
  s3: TestS3,
  prefix = 'some/prefix',
  budget = 10_000,
  cacheSeconds = 0,
): BucketPlace {
  const options = {
    address: { bucket: 'test', prefix },
    endpoint: s3.url,
    region: 'eu-test-1',
    pathStyle: 'auto' as const,
    env: environmentOf(s3),
    budget,
  }
  return new BucketPlace(options, cacheSeconds)
}
