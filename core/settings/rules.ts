import { isName } from '../name.ts'
import { VERSION_MAX } from '../version.ts'
import { choice, indexUrl, integer, level, list, row, text } from './kind.ts'

const count = integer(0, 100_000)

const crateName = text('a crate name', isName)
const slug = text('a slug such as "command-line-utilities"', value =>
  /^[A-Za-z0-9][A-Za-z0-9:_-]{0,127}$/.test(value),
)

/** The badge services that Cargo's manifest format once defined. */
const BADGES = (
  'appveyor azure-devops circle-ci cirrus-ci codecov coveralls gitlab ' +
  'is-it-maintained-issue-resolution is-it-maintained-open-issues ' +
  'maintenance travis-ci'
).split(' ')

/**
 * The requirements on a release. A limit is a number, and exceeding it is an error; a rule has a
 * level. The preset `public` has the defaults of crates.io. There is no setting for checks that
 * protect the users of a crate (invalid names, features that enable nothing).
 */
// biome-ignore format: a table has a line for each setting
export const policyRows = {
  preset: row(choice('private', 'public'), 'private', 'Defaults of this section: "private" suits a team, "public" has the rules of crates.io.'),

  name_max: row(integer(1, 64), 64, 'Most characters of a crate name.'),
  reserved_names: row(level, 'error', 'A new crate with the name of a part of Rust or of a Windows device.'),
  reserved_names_extra: row(list(crateName), [], 'Other reserved names.'),
  reserved_prefixes: row(list(crateName), [], 'Beginnings of names that are kept for own crates: an upstream is never asked for them.'),
  look_alikes: row(level, 'warn', 'A new name that is easily mistaken for that of an existing crate.'),
  version_max: row(integer(5, VERSION_MAX), 150, 'Most characters of a version.'),

  description: row(level, 'warn', 'A release without a description.', 'error'),
  description_max: row(count, 1000, 'Most bytes of a description.'),
  license: row(level, 'warn', 'A release with neither `license` nor `license-file`.', 'error'),
  license_expression: row(level, 'warn', 'A `license` that is not an SPDX expression.', 'error'),
  url_rules: row(level, 'warn', 'A `homepage`, `documentation` or `repository` that is not an http(s) URL.', 'error'),

  keywords_max: row(count, 5, 'Most keywords.'),
  keyword_length_max: row(count, 20, 'Most characters of a keyword.'),
  keyword_rule: row(level, 'warn', 'A keyword that is not ASCII letters, digits, `_`, `-`, `+` after a letter or digit.', 'error'),
  categories: row(list(slug), ['crates-io'], 'The known categories; `crates-io` stands for all of crates.io; an empty list allows all.'),
  categories_max: row(count, 5, 'Most categories.'),
  unknown_category: row(level, 'warn', 'A category that is not on that list; pages show it all the same.'),
  badges: row(list(slug), BADGES, 'The known badges; others are reported as `invalid_badges`. An empty list allows all.'),

  features_max: row(count, 5000, 'Most features.', 300),
  feature_items_max: row(count, 20_000, 'Most items that one feature enables.', 300),
  dependencies_max: row(count, 500, 'Most dependencies of all kinds and targets.'),
  wildcard_requirement: row(level, 'warn', 'A dependency that accepts any version (`*`).', 'error'),
  dependency_exists: row(level, 'error', 'A dependency on a crate that this registry does not have.'),
  foreign_registries: row(level, 'off', 'A dependency on another registry, crates.io included, that is not in `policy.allowed_registries`.', 'error'),
  allowed_registries: row(list(indexUrl), [], 'Index URLs of the registries that `policy.foreign_registries` allows.'),
  path_dependency_trap: row(level, 'warn', 'A dependency on crates.io whose name this registry has, too: often a workspace member without `registry = "…"`.'),

  duplicate_manifest: row(choice('deny', 'allow'), 'deny', 'A `.crate` with two identical `Cargo.toml` entries, which Cargo made before 2016.'),
} as const
