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
  name_collides: (p: { name: string; existing: string }) =>
    `the crate \`${p.name}\` already exists as \`${p.existing}\`, and names that differ only in case, \`-\` and \`_\` are one; publish it as \`${p.existing}\` or choose another name`,
  name_reserved: (p: { name: string }) => `the crate name \`${p.name}\` is reserved; choose another name`,
  name_looks_alike: (p: { name: string; others: readonly string[] }) =>
    `the crate name \`${p.name}\` is easily taken for the existing ${p.others.map(other => `\`${other}\``).join(', ')}; choose a name that differs more`,
  version_too_long: (p: { version: string; length: number; max: number }) =>
    `the version \`${p.version}\` has ${p.length} characters; at most ${p.max} are allowed, shorten what follows \`-\` or \`+\``,
  description_missing: () => 'the crate has no description; set `description` in the [package] section of Cargo.toml',
  description_too_long: (p: { bytes: number; max: number }) =>
    `the description has ${p.bytes} bytes; at most ${p.max} are allowed, move details to the readme`,
  license_missing: () =>
    'the crate has no licence; set `license` or `license-file` in the [package] section of Cargo.toml',
  license_invalid: (p: { license: string }) =>
    `the licence \`${p.license}\` is not an SPDX expression; write one such as \`MIT OR Apache-2.0\`, or name a text of your own with \`license-file\``,
  url_invalid: (p: { field: string; url: string }) =>
    `\`${p.field}\` is \`${p.url}\`, which is not an absolute http or https URL; correct or remove it`,
  keywords_too_many: (p: { count: number; max: number }) =>
    `the crate has ${p.count} keywords; at most ${p.max} are allowed`,
  keyword_too_long: (p: { keyword: string; max: number }) =>
    `the keyword \`${p.keyword}\` is too long; at most ${p.max} characters are allowed`,
  keyword_invalid: (p: { keyword: string }) =>
    `the keyword \`${p.keyword}\` must be ASCII letters, digits, \`_\`, \`-\` and \`+\`, and begin with a letter or digit`,
  categories_too_many: (p: { count: number; max: number }) =>
    `the crate has ${p.count} categories; at most ${p.max} are allowed`,
  category_unknown: (p: { category: string }) =>
    `this registry has no category \`${p.category}\`; remove it, or ask the operator to add it to \`policy.categories\``,
  features_too_many: (p: { count: number; max: number }) =>
    `the crate has ${p.count} features; at most ${p.max} are allowed`,
  feature_items_too_many: (p: { feature: string; count: number; max: number }) =>
    `the feature \`${p.feature}\` enables ${p.count} items; at most ${p.max} are allowed`,
  feature_name_invalid: (p: { feature: string }) =>
    `the feature name \`${p.feature}\` must begin with a letter, a digit or \`_\` and go on with letters, digits, \`_\`, \`-\`, \`+\` and \`.\``,
  feature_value_invalid: (p: { feature: string; value: string }) =>
    `the feature \`${p.feature}\` enables \`${p.value}\`; write \`FEATURE\`, \`dep:DEPENDENCY\`, \`DEPENDENCY/FEATURE\` or \`DEPENDENCY?/FEATURE\``,
  feature_value_unknown: (p: { feature: string; value: string }) =>
    `the feature \`${p.feature}\` enables \`${p.value}\`, which is neither a feature nor an optional dependency; add it or remove it`,
  feature_value_explicit: (p: { feature: string; value: string }) =>
    `the feature \`${p.feature}\` enables \`${p.value}\`, a dependency that is no feature because \`dep:${p.value}\` is used elsewhere; write \`dep:${p.value}\` here, too`,
  feature_value_required: (p: { feature: string; value: string; dependency: string }) =>
    `the feature \`${p.feature}\` enables \`${p.value}\`, but the dependency \`${p.dependency}\` is not optional; add \`optional = true\` to it or remove the item`,
  feature_dependency_unknown: (p: { feature: string; value: string; dependency: string }) =>
    `the feature \`${p.feature}\` enables \`${p.value}\`, but there is no dependency \`${p.dependency}\`; add it or remove the item`,
  dependency_unreachable: (p: { dependency: string }) =>
    `the optional dependency \`${p.dependency}\` is enabled by no feature; add \`dep:${p.dependency}\` to a feature`,
  dependencies_too_many: (p: { count: number; max: number }) =>
    `the crate has ${p.count} dependencies; at most ${p.max} are allowed`,
  dependency_name_invalid: (p: { name: string }) =>
    `the dependency name \`${p.name}\` must be 1 to 64 ASCII letters, digits, \`-\` and \`_\`, a letter first`,
  dependency_rename_invalid: (p: { name: string; package: string }) =>
    `the dependency \`${p.package}\` is renamed to \`${p.name}\`; a new name must be 1 to 64 ASCII letters, digits, \`-\` and \`_\`, a letter or \`_\` first`,
  dependency_dev_optional: (p: { dependency: string }) =>
    `the dev-dependency \`${p.dependency}\` cannot be optional; remove \`optional = true\``,
  dependency_feature_invalid: (p: { dependency: string; feature: string }) =>
    `the dependency \`${p.dependency}\` asks for the feature \`${p.feature}\`, which cannot be the name of a feature; correct or remove it`,
  dependency_wildcard: (p: { dependency: string }) =>
    `the dependency \`${p.dependency}\` accepts any version; name those it works with, for example \`version = "1.2"\``,
  dependency_missing: (p: { dependency: string }) =>
    `this registry has no crate \`${p.dependency}\`, on which the crate depends; publish that one first, or name the registry it comes from`,
  dependency_misspelled: (p: { dependency: string; existing: string }) =>
    `this registry has no crate \`${p.dependency}\`, on which the crate depends, but it has \`${p.existing}\`; spell the dependency that way`,
  dependency_foreign: (p: { dependency: string; registry: string }) =>
    `the dependency \`${p.dependency}\` comes from another registry, ${p.registry}, which this one does not allow; publish it here first, or ask the operator to add that URL to \`policy.allowed_registries\``,
  dependency_path_trap: (p: { dependency: string }) =>
    `the dependency \`${p.dependency}\` is taken from crates.io, but this registry has a crate of that name; if that one is meant, as for a member of your workspace, add \`registry = "…"\` with the name of this registry to the dependency and publish again`,
  objections_more: (p: { count: number }) =>
    `${p.count} more ${p.count === 1 ? 'objection is' : 'objections are'} not shown; mend those above and try again`,

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
