import type { Kind } from './kind.ts'
import { choice, crateName, indexUrl, integer, level, list, text } from './kind.ts'
import { mainRow, presetRow, row } from './row.ts'

const count = integer(0, 100_000)

const slug: Kind<string> = text('a slug such as "command-line-utilities"', value =>
  /^[A-Za-z0-9][A-Za-z0-9:_-]{0,127}$/.test(value),
)

/** The badges that Cargo's manifest format used to have. */
const BADGES = [
  'appveyor',
  'azure-devops',
  'circle-ci',
  'cirrus-ci',
  'codecov',
  'coveralls',
  'gitlab',
  'is-it-maintained-issue-resolution',
  'is-it-maintained-open-issues',
  'maintenance',
  'travis-ci',
]

/**
 * What a release must meet. A limit is a number and always refuses; a rule has a level. The defaults
 * of the preset `public` are those of crates.io. What would break the users of a crate (bad names,
 * features that enable nothing) is no setting.
 */
export const policyRows = {
  preset: mainRow(
    choice('private', 'public'),
    'private',
    'private',
    'Defaults of this section: "private" suits a team, "public" has the rules of crates.io.',
  ),

  name_max: row(integer(1, 64), 64, 'Most characters of a crate name.'),
  reserved_names: row(
    level,
    'error',
    'A new crate with the name of a part of Rust or of a Windows device.',
  ),
  reserved_names_extra: row(list(crateName), [], 'Other reserved names.'),
  look_alikes: row(
    level,
    'warn',
    'A new name that is easily mistaken for that of an existing crate.',
  ),
  version_max: row(integer(5, 1000), 150, 'Most characters of a version.'),

  description: presetRow(level, 'warn', 'error', 'A release without a description.'),
  description_max: row(count, 1000, 'Most bytes of a description.'),
  license: presetRow(
    level,
    'warn',
    'error',
    'A release with neither `license` nor `license-file`.',
  ),
  license_expression: presetRow(
    level,
    'warn',
    'error',
    'A `license` that is not an SPDX expression.',
  ),
  url_rules: presetRow(
    level,
    'warn',
    'error',
    'A `homepage`, `documentation` or `repository` that is not an http(s) URL.',
  ),

  keywords_max: row(count, 5, 'Most keywords.'),
  keyword_length_max: row(count, 20, 'Most characters of a keyword.'),
  keyword_rule: presetRow(
    level,
    'warn',
    'error',
    'A keyword that is not ASCII letters, digits, `_`, `-`, `+` after a letter or digit.',
  ),
  categories: row(list(slug), [], 'The known categories; an empty list allows all.'),
  categories_max: row(count, 5, 'Most categories.'),
  unknown_category: row(
    level,
    'warn',
    'A category that is not known; "warn" reports it as `invalid_categories`.',
  ),
  badges: row(
    list(slug),
    BADGES,
    'The known badges; others are reported as `invalid_badges`. An empty list allows all.',
  ),

  features_max: presetRow(count, 20_000, 300, 'Most features.'),
  feature_items_max: presetRow(count, 20_000, 300, 'Most items that one feature enables.'),
  dependencies_max: row(count, 500, 'Most dependencies of all kinds and targets.'),
  wildcard_requirement: presetRow(
    level,
    'warn',
    'error',
    'A dependency that accepts any version (`*`).',
  ),
  dependency_exists: row(
    level,
    'error',
    'A dependency on a crate that this registry does not have.',
  ),
  foreign_registries: presetRow(
    level,
    'off',
    'error',
    'A dependency on another registry, crates.io included, that is not in `policy.allowed_registries`.',
  ),
  allowed_registries: row(
    list(indexUrl),
    [],
    'Index URLs of the registries that `policy.foreign_registries` allows.',
  ),
  path_dependency_trap: row(
    level,
    'warn',
    'A dependency on crates.io whose name this registry has, too: often a workspace member without `registry = "…"`.',
  ),

  duplicate_manifest: row(
    choice('deny', 'allow'),
    'deny',
    'A `.crate` with two identical `Cargo.toml` entries, which Cargo made before 2016.',
  ),
} as const
