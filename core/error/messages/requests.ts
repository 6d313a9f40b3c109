import type { MessageTable } from '../kind.ts'

/** What is wrong with a request to the web API. */
export const requestMessages = {
  unauthorized: {
    token_absent: (p: { me: string }) =>
      `this needs a token; ${p.me} says how to get one, then run \`cargo login\``,
    token_rejected: (p: { me: string }) =>
      `this token is not valid: it is unknown, revoked or expired; ${p.me} says how to get a new one`,
    scope_missing: (p: { scope: string }) =>
      `this token may not do that: it lacks the scope \`${p.scope}\``,
    crate_not_covered: (p: { name: string }) => `this token does not cover the crate \`${p.name}\``,
  },
  forbidden: {
    api_off: () =>
      'this registry takes no changes over the web (`registry.api` is "none"); its operator publishes with `plimsoll add` and yanks with `plimsoll yank`',
  },
  not_found: {
    route_unknown: () => 'there is nothing here',
  },
  incomplete: {
    body_lost: () => 'the connection broke before the whole request had arrived; send it again',
  },
  timeout: {
    body_slow: (p: { seconds: number }) =>
      `the request was incomplete after ${p.seconds} seconds; send it again over a faster connection, or ask the operator to raise \`limits.request_seconds\``,
  },
  too_large: {
    metadata_too_big: (p: { size: number; max: number }) =>
      `the publish metadata has ${p.size} bytes; at most ${p.max} are allowed (\`limits.metadata_bytes\`)`,
  },
  busy: {
    sandbox_busy: () => 'too many crate files wait to be checked; try again in a minute',
  },
  failed: {
    unexpected: (p: { id: string }) =>
      `something unexpected went wrong; the operator finds the cause in the log under ${p.id}`,
  },
  invalid: {
    metadata_invalid: (p: { reason: string }) => `the publish metadata cannot be read: ${p.reason}`,
    body_short: (p: { part: string; announced: number }) =>
      `the publish request ends within the ${p.part}, which was announced with ${p.announced} bytes`,
    body_long: (p: { announced: number }) =>
      `the publish request continues after the ${p.announced} bytes announced for the .crate`,
    release_present: (p: { name: string; version: string }) =>
      `\`${p.name}\` ${p.version} was published before with the same bytes; nothing has changed`,
    index_late: (p: { name: string }) =>
      `the index of \`${p.name}\` could not be written yet; the daemon keeps trying`,
  },
} as const satisfies MessageTable
