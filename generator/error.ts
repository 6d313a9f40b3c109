/**
 * The one catalogue of objections: code → message in the user's words, what was wrong and what to do next.
 * Everything the registry refuses or warns of is an `Issue` made here.
 */
const messages = {
  // names
  name_empty: () => 'a crate name cannot be empty',
  name_too_long: (p: { name: string; max: number }) =>
    `the crate name \`${p.name}\` has ${p.name.length} characters; at most ${p.max} are allowed`,
  name_start: (p: { name: string }) => `the crate name \`${p.name}\` must start with an ASCII letter`,
  name_character: (p: { name: string; character: string }) =>
    `the crate name \`${p.name}\` contains \`${p.character}\`; only ASCII letters, digits, \`-\` and \`_\` are allowed`,

  // versions and requirements
  version_invalid: (p: { version: string }) =>
    `\`${p.version}\` is not a valid SemVer 2.0.0 version; write it as MAJOR.MINOR.PATCH, for example \`1.0.0\``,

  // manifests

  // archives

  // releases

  // policy

  // settings
  settings_syntax: (p: { file: string; line: number; column: number; problem: string }) =>
    `${p.file}, line ${p.line}, column ${p.column}: this is not TOML: ${p.problem}`,
  setting_unknown: (p: { where: string; key: string; suggestion: string | null; accepted: readonly string[] }) =>
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
  crate_unknown: (p: { name: string }) => `there is no crate \`${p.name}\` here`,
  release_unknown: (p: { name: string; version: string }) => `there is no version ${p.version} of \`${p.name}\` here`,
  version_taken: (p: { name: string; version: string; existing: string }) =>
    p.version === p.existing
      ? `\`${p.name}\` ${p.version} already exists; a published version never changes, publish a new one`
      : `\`${p.name}\` ${p.version} differs from the existing ${p.existing} only in build metadata, which does not make another version`,
  name_taken: (p: { name: string; existing: string }) =>
    `\`${p.name}\` collides with the existing crate \`${p.existing}\`: names that differ only in case or in \`-\` and \`_\` are one name`,
  not_owner: (p: { name: string; login: string }) =>
    `\`${p.login}\` is not an owner of \`${p.name}\`; ask one of its owners for \`cargo owner --add ${p.login}\``,

  // git index
  git_engine_missing: (p: { command: string }) =>
    `the git index needs an engine: neither \`nodegit\` nor the executable \`${p.command}\` can be used; install git 2.34 or newer, or run \`npm run setup:nodegit\``,
  git_nodegit_missing: (p: { reason: string }) =>
    `the git engine \`nodegit\` was asked for but does not load (${p.reason}); run \`npm run setup:nodegit\`, or choose the engine \`git\``,
  git_too_old: (p: { command: string; version: string }) =>
    `\`${p.command}\` is version ${p.version}; the git index needs git 2.34 or newer`,
  git_index_occupied: (p: { path: string }) =>
    `\`${p.path}\` is not a bare git repository and not empty; move it away or name another folder for the git index`,
  git_index_format: (p: { path: string; format: string }) =>
    `the git repository \`${p.path}\` uses ${p.format}; the git index needs SHA-1 objects, refs as files and a HEAD that names a branch`,
  git_path_invalid: (p: { path: string }) =>
    `\`${p.path}\` cannot be a path of the git index; use lowercase letters, digits, \`-\`, \`_\` and \`.\` between single slashes`,
  git_path_twice: (p: { path: string }) => `\`${p.path}\` is changed twice in one commit; name every path once`,
  git_index_moved: (p: { path: string }) =>
    `the git index \`${p.path}\` was changed by another program during a commit; let one process write to it, and run the build again`,
  git_failed: (p: { command: string; detail: string }) =>
    `\`git ${p.command}\` failed: ${p.detail}; run \`plimsoll verify\` if it happens again`,
  git_index_closed: (p: { path: string }) => `the git index \`${p.path}\` is closed; open it again before using it`,
  git_remote_invalid: (p: { remote: string }) =>
    `\`${p.remote}\` is not a git remote to push to; write a URL such as \`https://host/index.git\`, \`ssh://host/index.git\`, or a path`,
  git_push_diverged: (p: { remote: string }) =>
    `the git index was not pushed to \`${p.remote}\`: the remote has commits this registry does not have; let no one else push there, then push once by hand with \`git push --force\` to replace them`,
  git_push_failed: (p: { remote: string; detail: string }) =>
    `the git index was not pushed to \`${p.remote}\` (${p.detail}); the push is tried again, check the address and its credentials`,
  git_service_refused: () =>
    'the git index is read-only over HTTP; releases are added with `cargo publish`, and only `git-upload-pack` is served here',
  git_request_type: (p: { expected: string }) => `a git request must have the content type \`${p.expected}\``,
  git_request_encoding: () => 'the request body could not be read; send it plain or with `Content-Encoding: gzip`',
  git_request_too_large: (p: { max: number }) =>
    `the git request is larger than ${p.max} bytes; clone the index afresh instead of fetching into this repository`,
  git_request_slow: () => 'the git request did not arrive in time; try again over a faster connection',
  git_request_bad: () => 'git did not understand the request; clone the index afresh',
  git_server_failed: () => 'the git index cannot be read at the moment; try again, or use the sparse index',
  git_busy: () => 'too many clients are reading the git index at the moment; try again in a few seconds',

  // commands

  // accounts

  // web API
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

  constructor(issues: readonly [Issue, ...Issue[]], options?: ErrorOptions) {
    super(issues.map(one => one.message).join('; '), options)
    this.issues = issues
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
