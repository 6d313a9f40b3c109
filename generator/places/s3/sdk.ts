/**
 * The used part of the SDK for S3. `scripts/sdk.mjs` replaces this file by a bundle of it, so that
 * nobody installs the SDK, and only a registry with a bucket loads it.
 */
export {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
export { getSignedUrl } from '@aws-sdk/s3-request-presigner'
