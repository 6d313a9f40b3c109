import { issue, Refusal } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { WebFailure } from '../web/failure.ts'

/** Seconds after which a client may ask again for what could not be fetched. */
const RETRY_SECONDS = 5

/**
 * Returns what clients are told where an upstream could not be asked for a crate of which nothing
 * is kept. No address and no other words of the failure: they may be about a private network.
 */
export function failureRefusal(name: Name, failure: unknown, retryAfter = RETRY_SECONDS): Refusal {
  const { status, isNetwork } = failure instanceof WebFailure ? failure : { status: null }
  const told = isNetwork
    ? issue('upstream_away', { name })
    : status === null
      ? issue('upstream_unusable', { name })
      : issue('upstream_status', { name, status })
  return new Refusal([told], { retryAfter })
}
