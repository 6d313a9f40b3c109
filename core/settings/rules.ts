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
export const policyRows = {
  preset: row(choice('private', 'public'), 'private'),

  name_max: row(integer(1, 64), 64),
  reserved_names: row(level, 'error'),
  reserved_names_extra: row(list(crateName), []),
  reserved_prefixes: row(list(crateName), []),
  look_alikes: row(level, 'warn'),
  version_max: row(integer(5, VERSION_MAX), 150),

  description: row(level, 'warn', 'error'),
  description_max: row(count, 1000),
  license: row(level, 'warn', 'error'),
  license_expression: row(level, 'warn', 'error'),
  url_rules: row(level, 'warn', 'error'),

  keywords_max: row(count, 5),
  keyword_length_max: row(count, 20),
  keyword_rule: row(level, 'warn', 'error'),
  categories: row(list(slug), ['crates-io']),
  categories_max: row(count, 5),
  unknown_category: row(level, 'warn'),
  badges: row(list(slug), BADGES),

  features_max: row(count, 5000, 300),
  feature_items_max: row(count, 20_000, 300),
  dependencies_max: row(count, 500),
  wildcard_requirement: row(level, 'warn', 'error'),
  dependency_exists: row(level, 'error'),
  foreign_registries: row(level, 'off', 'error'),
  allowed_registries: row(list(indexUrl), []),
  path_dependency_trap: row(level, 'warn'),

  duplicate_manifest: row(choice('deny', 'allow'), 'deny'),
} as const
