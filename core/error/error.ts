import { accountMessages } from './messages/accounts.ts'
import { commandMessages } from './messages/commands.ts'
import { crateMessages } from './messages/crate.ts'
import { gitMessages } from './messages/git.ts'
import { importMessages } from './messages/import.ts'
import { policyMessages } from './messages/policy.ts'

/**
 * The one catalogue of objections: code → message in the user's words, what was wrong and what to do next.
 * Everything the registry refuses or warns of is an `Issue` made here.
 */
const messages = {
  ...crateMessages,
  ...policyMessages,
  ...gitMessages,
  ...commandMessages,
  ...importMessages,
  ...accountMessages,

  // settings
  settings_syntax: (p: { file: string; line: number; column: number; problem: string }) =>
    `${p.file}, line ${p.line}, column ${p.column}: this is not TOML: ${p.problem}`,
  setting_unknown: (p: {
    where: string
    key: string
    suggestion: string | null
    accepted: readonly string[]
  }) =>
    `${p.where}: there is no setting \`${p.key}\`${p.suggestion === null ? ';' : `; did you mean \`${p.suggestion}\`?`} accepted: ${p.accepted.join(', ')}`,
  setting_invalid: (p: { where: string; key: string; given: string; accepts: string }) =>
    `${p.where}: \`${p.key}\` cannot be ${p.given}; accepted: ${p.accepts}`,
  setting_twice: (p: { key: string; first: string; second: string }) =>
    `\`${p.key}\` is set differently by ${p.first} and by ${p.second}; remove one of them`,
  setting_missing: (p: { key: string; because: string }) =>
    `\`${p.because}\` is set but \`${p.key}\` is not; set both or neither`,

  // catalog and stores
  crate_too_big: (p: { max: number }) =>
    `the .crate is bigger than the ${p.max} bytes allowed here; leave out what is not needed (\`exclude\` in Cargo.toml) or ask the operator to raise \`limits.crate_bytes\``,
  crate_lost: (p: { name: string; version: string }) =>
    `the .crate of \`${p.name}\` ${p.version} is missing from the crate store or damaged there; put it back from a backup of the registry folder and run \`plimsoll build --all\``,
  crate_unknown: (p: { name: string }) => `there is no crate \`${p.name}\` here`,
  readme_unknown: (p: { name: string; version: string }) =>
    `${p.name} ${p.version} was packaged without a README`,
  release_unknown: (p: { name: string; version: string }) =>
    `there is no version ${p.version} of \`${p.name}\` here`,
  version_taken: (p: { name: string; version: string; existing: string }) =>
    p.version === p.existing
      ? `\`${p.name}\` ${p.version} already exists; a published version never changes, publish a new one`
      : `\`${p.name}\` ${p.version} differs from the existing ${p.existing} only in build metadata, which does not make another version`,
  version_deleted: (p: { name: string; version: string }) =>
    `\`${p.name}\` ${p.version} was deleted; lock files may still name its bytes, so other ones need another version`,
  name_taken: (p: { name: string; existing: string }) =>
    `\`${p.name}\` collides with the existing crate \`${p.existing}\`: names that differ only in case or in \`-\` and \`_\` are one name; publish it as \`${p.existing}\` or choose another name`,
  not_owner: (p: { name: string; login: string }) =>
    `\`${p.login}\` is not an owner of \`${p.name}\`; ask one of its owners for \`cargo owner --add ${p.login}\``,

  // web API
  token_absent: (p: { me: string }) =>
    `this needs a token; ${p.me} says how to get one, then run \`cargo login\``,
  token_rejected: (p: { me: string }) =>
    `this token is not valid: it is unknown, revoked or expired; ${p.me} says how to get another`,
  scope_missing: (p: { scope: string }) =>
    `this token may not do that: it lacks the scope \`${p.scope}\``,
  crate_not_covered: (p: { name: string }) => `this token is not good for the crate \`${p.name}\``,
  metadata_too_big: (p: { size: number; max: number }) =>
    `the publish metadata has ${p.size} bytes; at most ${p.max} are allowed`,
  metadata_invalid: (p: { reason: string }) => `the publish metadata cannot be read: ${p.reason}`,
  body_short: (p: { part: string; announced: number }) =>
    `the publish request ends within the ${p.part}, which was announced with ${p.announced} bytes`,
  body_long: (p: { announced: number }) =>
    `the publish request goes on after the ${p.announced} bytes announced for the .crate`,
  body_slow: (p: { seconds: number }) =>
    `the request had not arrived whole after ${p.seconds} seconds; send it again over a faster connection, or have \`limits.request_seconds\` raised`,
  body_lost: () => 'the connection broke before the whole request had arrived; send it again',
  release_present: (p: { name: string; version: string }) =>
    `\`${p.name}\` ${p.version} was published before with the same bytes; nothing has changed`,
  index_late: (p: { name: string }) =>
    `the index of \`${p.name}\` could not be written yet; the daemon keeps trying`,
  unexpected: (p: { id: string }) =>
    `something unexpected went wrong; the operator finds the cause in the log under ${p.id}`,
  tls_unreadable: (p: { path: string; reason: string }) =>
    `the TLS file ${p.path} cannot be read: ${p.reason}`,
  tls_invalid: (p: { path: string; what: string; reason: string }) =>
    `the TLS file ${p.path} does not hold ${p.what} in PEM: ${p.reason}`,
  tls_mismatch: (p: { cert: string; key: string }) =>
    `the private key in ${p.key} does not belong to the certificate in ${p.cert}`,
  route_unknown: () => 'there is nothing here',
} as const satisfies Record<string, (params: never) => string>

export type Code = keyof typeof messages
type Params<C extends Code> = Parameters<(typeof messages)[C]>

/** One objection. An `error` stops what was asked; a `warning` travels along with its success. */
export interface Issue {
  readonly code: Code
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** Makes the objection `code`, worded from its parameters. */
export function issue<C extends Code>(code: C, ...params: Params<C>): Issue {
  return { code, severity: 'error', message: word(code, params) }
}

/** The same objection where it is only worth telling. */
export function warning<C extends Code>(code: C, ...params: Params<C>): Issue {
  return { code, severity: 'warning', message: word(code, params) }
}

function word<C extends Code>(code: C, params: Params<C>): string {
  const message = messages[code] as (...params: Params<C>) => string
  return message(...params)
}

/** Thrown when something foreseen stands in the way; carries every objection found, never none. */
export class Refusal extends Error {
  readonly issues: readonly [Issue, ...Issue[]]
  override readonly name = 'Refusal'
  /** Seconds after which the same may be tried again, for what came too often. */
  readonly retryAfter: number | undefined

  constructor(
    issues: readonly [Issue, ...Issue[]],
    options?: ErrorOptions & { readonly retryAfter?: number },
  ) {
    super(issues.map(one => one.message).join('; '), options)
    this.issues = issues
    this.retryAfter = options?.retryAfter
  }

  /** Whether one of the objections has this code. */
  has(code: Code): boolean {
    return this.issues.some(one => one.code === code)
  }
}

/** Throws the objection `code` as a `Refusal`. */
export function refuse<C extends Code>(code: C, ...params: Params<C>): never {
  throw new Refusal([issue(code, ...params)])
}

/** Throws all errors among `issues` as one `Refusal`; returns when there are only warnings. */
export function refuseErrors(issues: readonly Issue[]): void {
  const [first, ...rest] = issues.filter(one => one.severity === 'error')
  if (first) throw new Refusal([first, ...rest])
}

/** Runs `work`; a `Refusal` adds its objections to `issues` and gives `undefined`, so that several can be collected. */
export function collect<T>(issues: Issue[], work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    issues.push(...error.issues)
    return undefined
  }
}
