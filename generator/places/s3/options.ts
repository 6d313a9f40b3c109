import type { BucketAddress } from '../../../core/paths/bucket.ts'
import type { Environment } from '../../../core/settings/source.ts'

/** Where a bucket is, and how to reach it. */
export interface BucketOptions {
  readonly address: BucketAddress
  /** Null for Amazon S3. */
  readonly endpoint: string | null
  /** Null for what the environment or a profile names, or else `us-east-1`. */
  readonly region: string | null
  /** Whether the bucket is in the path and not in the host; by default with an endpoint. */
  readonly pathStyle: 'auto' | 'on' | 'off'
  /** Where keys of the account are looked for before the other places that the SDK knows. */
  readonly env: Environment
  /** How long requests are tried again, in milliseconds. */
  readonly budget?: number
  /** How long a server may be silent, in milliseconds. */
  readonly silence?: number
}
