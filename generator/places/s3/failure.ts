import { refuse } from '../../../core/error/error.ts'
import { refuseBroken } from './reading.ts'

/** An error of the SDK; without a status it comes from the network, or there are no keys. */
interface Failure {
  readonly name: string
  readonly message: string
  readonly $metadata?: { readonly httpStatusCode?: number | undefined }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

/** Statuses of an answer after which the same request may succeed later. */
const BUSY = new Set([408, 409, 425, 429, 500, 502, 503, 504])

/** Returns the status that a server answered with; null for every other error. */
export function statusOf(error: unknown): number | null {
  return (error as Failure).$metadata?.httpStatusCode ?? null
}

/** Throws a refusal that says why a request failed; other errors as they are. */
export function refuseFailure(method: string, error: unknown): never {
  const failure = error as Failure
  const { name, message } = failure
  const status = statusOf(error)
  if (status === null) return refuseBroken(error)
  // An answer without a body, as to HEAD, has no code.
  const reason =
    `${method} ${status} ${/^(?:Unknown\w*|Error|\d+)$/.test(name) ? '' : name}`.trimEnd()
  if (BUSY.has(status)) return refuse('bucket_unreachable', { reason })
  const region = failure.$response?.headers?.['x-amz-bucket-region']
  const isElsewhere = status === 301 || name === 'AuthorizationHeaderMalformed'
  const hint =
    isElsewhere && region
      ? `the bucket is in the region "${region}"; set \`storage.region\``
      : message
  const isSaid = hint !== '' && hint !== name && !/^Unknown/.test(hint)
  return refuse('bucket_refuses', { reason: isSaid ? `${reason}: ${hint}` : reason })
}
