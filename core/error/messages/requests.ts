import type { MessageTable } from '../kind.ts'

/** Errors in requests to the web API. */
export const requestMessages = {
  unauthorized: {
    token_absent: 'this needs a token; {me} says how to get one, then run `cargo login`',
    token_rejected:
      'this token is not valid: it is unknown, revoked or expired; {me} says how to get a new one',
    scope_missing: 'this token may not do that: it lacks the scope `{scope}`',
    crate_not_covered: 'this token does not cover the crate `{name}`',
  },
  forbidden: {
    api_off:
      'this registry takes no changes over the web (`registry.api` is "none"); its operator publishes with `plimsoll add` and yanks with `plimsoll yank`',
  },
  not_found: {
    route_unknown: 'there is nothing here',
  },
  incomplete: {
    body_lost: 'the connection broke before the whole request had arrived; send it again',
  },
  timeout: {
    body_slow:
      'the request was incomplete after {seconds} seconds; send it again over a faster connection, or ask the operator to raise `limits.request_seconds`',
  },
  too_large: {
    metadata_too_big:
      'the publish metadata has {size} bytes; at most {max} are allowed (`limits.metadata_bytes`)',
  },
  busy: {
    sandbox_busy: 'too many crate files are waiting to be checked; try again in a minute',
  },
  failed: {
    unexpected:
      'something unexpected went wrong; the operator finds the cause in the log under {id}',
  },
  invalid: {
    metadata_invalid: 'the publish metadata cannot be read: {reason}',
    body_short:
      'the publish request ends within the {part}, which was announced with {announced} bytes',
    body_long: 'the publish request continues after the {announced} bytes announced for the .crate',
    release_present:
      '`{name}` {version} was published before with the same bytes; nothing has changed',
    index_late: 'the index of `{name}` could not be written yet; the daemon keeps trying',
  },
} as const satisfies MessageTable
