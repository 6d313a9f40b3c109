import { Bucket } from '../../../generator/store/s3/bucket.ts'
import type { Cleanup } from '../cleanup.ts'
import { FakeS3 } from './server.ts'
import { KEYS } from './signature.ts'

/** Starts the in-process S3 until the test ends. */
export function startS3(cleanup: Cleanup): Promise<FakeS3> {
  return FakeS3.start(cleanup)
}

/** The bucket of an in-process S3, below a prefix; `budget` in milliseconds as in its options. */
export function bucketOn({ url }: FakeS3, prefix = 'some/prefix', budget = 10_000): Bucket {
  return new Bucket({
    address: { bucket: 'test', prefix },
    endpoint: url,
    region: 'eu-test-1',
    pathStyle: 'auto',
    env: { AWS_ACCESS_KEY_ID: KEYS.id, AWS_SECRET_ACCESS_KEY: KEYS.secret },
    budget,
  })
}
