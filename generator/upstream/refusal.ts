import { issue, Refusal } from '../../core/error/error.ts'
import { WebFailure } from '../web/failure.ts'

/** Seconds after which a client may ask again for what could not be fetched. */
const RETRY_SECONDS = 5

/** Counts tokens for requests to an upstream; returns the seconds until there is one again. */
export type Spend = (tokens: number) => number

/** The budget of operators and workers: nobody counts their requests. */
export const FREE: Spend = () => 0

/** The tokens that a request costs besides when it brings nothing: invented names end soon. */
export const IN_VAIN = 19

/** Takes a token for a request; refuses it where there is none, until there is one. */
export function requireToken(spend: Spend): void {
  const seconds = spend(1)
  if (seconds === 0) return
  const told = issue('rate_limited', { what: 'questions to another registry', seconds })
  throw new Refusal([told], { retryAfter: seconds })
}

/**
 * Returns what clients are told where an upstream could not be asked for a crate, or `NAME VERSION`,
 * of which nothing is kept. No address and no other words of the failure: they may be about a
 * private network.
 */
export function failureRefusal(
  name: string,
  failure: unknown,
  retryAfter = RETRY_SECONDS,
): Refusal {
  const { status, isNetwork } = failure instanceof WebFailure ? failure : { status: null }
  const told = isNetwork
    ? issue('upstream_away', { name })
    : status === null
      ? issue('upstream_unusable', { name })
      : issue('upstream_status', { name, status })
  return new Refusal([told], { retryAfter })
}
