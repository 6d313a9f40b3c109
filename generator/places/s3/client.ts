// generator/places/s3: Object storage by the protocol of S3. places/ and deploy/ call it; it never
// knows what an object means.
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import type { Environment } from '../../../core/settings/source.ts'
import type { BucketOptions } from './options.ts'
import { expectStorage } from './requests.ts'
import { S3Client } from './sdk.ts'

/** How long a server may be silent: a publish waits for it, and Cargo waits 30 seconds. */
export const SILENCE_MS = 8000
export const BUDGET_MS = 15_000

/** The most connections to one server; other requests wait. */
const CONNECTIONS = 64

/** The SDK reads this when its first client is made; the README says which Node to use. */
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'

/**
 * Returns the clients of a bucket: `requests` for what ends soon, and `streams` for objects that
 * are read as fast as somebody else takes them. Streams have connections of their own, because the
 * slowest of them would hold up what waits for one.
 */
export function clientsOf(options: BucketOptions): { requests: S3Client; streams: S3Client } {
  const { address, endpoint, pathStyle, env, silence = SILENCE_MS } = options
  // A certificate for `*.s3.…` does not hold for a bucket with a dot.
  const isInPath = endpoint !== null || address.bucket.includes('.')
  const config: S3ClientConfig = {
    ...(endpoint !== null && { endpoint }),
    ...keysOf(env),
    region: regionOf(options),
    forcePathStyle: pathStyle === 'auto' ? isInPath : pathStyle === 'on',
    followRegionRedirects: true,
    // Requests are tried again by `BucketPlace`, as long as its budget says.
    maxAttempts: 1,
    retryMode: 'standard',
    // A wrong AWS_DEFAULTS_MODE ends the process: nobody awaits where the SDK reads it.
    defaultsMode: 'legacy',
    // Many storages refuse bodies in chunks and checksums in trailers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
  }
  const limits = { connectionTimeout: silence, throwOnRequestTimeout: true }
  const agent = (maxSockets: number) => {
    const same = { keepAlive: true, maxSockets, scheduling: 'lifo' as const }
    return { httpAgent: same, httpsAgent: same }
  }
  const requestHandler = { ...limits, ...agent(CONNECTIONS), socketTimeout: silence }
  const requests = new S3Client({ ...config, requestHandler })
  const { credentials } = requests.config
  const ofStreams = { ...limits, ...agent(Infinity), requestTimeout: silence, socketTimeout: 0 }
  const streams = new S3Client({ ...config, credentials, requestHandler: ofStreams })
  for (const client of [requests, streams]) expectStorage(client)
  return { requests, streams }
}

/** Keys in the environment go first unless it names a profile, as in the chain of the SDK. */
function keysOf(env: Environment): Pick<S3ClientConfig, 'credentials'> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (!accessKeyId || !secretAccessKey || env.AWS_PROFILE) return {}
  const sessionToken = env.AWS_SESSION_TOKEN
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } }
}

/** Returns the region; the SDK finds the one of a profile, and fails where no place names one. */
function regionOf({ region, env }: BucketOptions): string | (() => Promise<string>) {
  const named = region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION)
  return (
    named ||
    (() => new S3Client({ defaultsMode: 'legacy' }).config.region().catch(() => 'us-east-1'))
  )
}
