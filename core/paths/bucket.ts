import { PREFIX_MAX } from './crates.ts'

export interface BucketAddress {
  readonly bucket: string
  /** Without slashes at its ends; '' for the whole bucket. */
  readonly prefix: string
}

/** Whether a place looks like an address, which must then be a bucket's. */
export function isBucket(place: string): boolean {
  return /^(?:s3:|[a-z][a-z0-9+.-]*:\/\/)/i.test(place)
}

/** Reads `s3://bucket/prefix`; returns null when it is none. Bucket names: rules of Amazon S3. */
export function parseBucketAddress(text: string): BucketAddress | null {
  const [, bucket = '', path = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? []
  const prefix = path.replace(/^\/+|\/+$/g, '')
  const isPrefix = /^(?:[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*)?$/.test(prefix)
  const isUp = prefix.split('/').some(part => part === '.' || part === '..')
  return bucket !== '' && !bucket.includes('..') && isPrefix && !isUp && prefix.length <= PREFIX_MAX
    ? { bucket, prefix }
    : null
}

/** Returns the address as it is written in settings. */
export function addressText({ bucket, prefix }: BucketAddress): string {
  return prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`
}
