import type { MessageTable } from './kind.ts'

// biome-ignore format: a message is one line, which a search for its words shows with its code.
export const policyMessages = {
  invalid: {
    name_reserved: 'the crate name `{name}` is reserved; choose another name',
    name_looks_alike: (p: { name: string; others: readonly string[] }) =>
      `the crate name \`${p.name}\` is easily mistaken for the existing ${p.others.map(other => `\`${other}\``).join(', ')}; choose a name that differs more`,
    version_too_long: 'the version `{version}` has {length} characters; at most {max} are allowed (`policy.version_max`), shorten what follows `-` or `+`',
    description_missing: 'the crate has no description; set `description` in the [package] section of Cargo.toml',
    description_bidi: 'the description has invisible characters that change the direction of text (U+202E and others); remove them, because they can make it read as something else',
    description_too_long: 'the description has {bytes} bytes; at most {max} are allowed (`policy.description_max`), move details to the README',
    license_missing: 'the crate has no license; set `license` or `license-file` in the [package] section of Cargo.toml',
    license_invalid: 'the license `{license}` is not an SPDX expression; write one such as `MIT OR Apache-2.0`, or name your own text with `license-file`',
    url_invalid: '`{field}` is `{url}`, which is not an absolute http or https URL; correct or remove it',
    keywords_too_many: 'the crate has {count} keywords; at most {max} are allowed (`policy.keywords_max`)',
    keyword_too_long: 'the keyword `{keyword}` is too long; at most {max} characters are allowed (`policy.keyword_length_max`)',
    keyword_invalid: 'the keyword `{keyword}` must be ASCII letters, digits, `_`, `-` and `+`, and begin with a letter or digit',
    categories_too_many: 'the crate has {count} categories; at most {max} are allowed (`policy.categories_max`)',
    category_unknown: 'this registry has no category `{category}`; remove it, or ask the operator to add it to `policy.categories`',
    features_too_many: 'the crate has {count} features; at most {max} are allowed (`policy.features_max`)',
    feature_items_too_many: 'the feature `{feature}` enables {count} items; at most {max} are allowed (`policy.feature_items_max`)',
    feature_name_invalid: 'the feature name `{feature}` must begin with a letter, a digit or `_` and go on with letters, digits, `_`, `-`, `+` and `.`',
    feature_value_invalid: 'the feature `{feature}` enables `{value}`; write `FEATURE`, `dep:DEPENDENCY`, `DEPENDENCY/FEATURE` or `DEPENDENCY?/FEATURE`',
    feature_value_unknown: 'the feature `{feature}` enables `{value}`, which is neither a feature nor an optional dependency; add it or remove it',
    feature_value_explicit: 'the feature `{feature}` enables `{value}`, a dependency that is not a feature because `dep:{value}` is used elsewhere; write `dep:{value}` here as well',
    feature_value_required: 'the feature `{feature}` enables `{value}`, but the dependency `{dependency}` is not optional; add `optional = true` to it or remove the item',
    feature_dependency_unknown: 'the feature `{feature}` enables `{value}`, but there is no dependency `{dependency}`; add it or remove the item',
    dependency_unreachable: 'the optional dependency `{dependency}` is enabled by no feature; add `dep:{dependency}` to a feature',
    dependencies_too_many: 'the crate has {count} dependencies; at most {max} are allowed (`policy.dependencies_max`)',
    dependency_name_invalid: 'the dependency name `{name}` must be 1 to 64 ASCII letters, digits, `-` and `_`, a letter first',
    dependency_rename_invalid: 'the dependency `{package}` is renamed to `{name}`; a new name must be 1 to 64 ASCII letters, digits, `-` and `_`, a letter or `_` first',
    dependency_dev_optional: 'the dev-dependency `{dependency}` cannot be optional; remove `optional = true`',
    dependency_feature_invalid: 'the dependency `{dependency}` requests the feature `{feature}`, which is not a valid feature name; correct or remove it',
    dependency_wildcard: 'the dependency `{dependency}` accepts any version; name those it works with, for example `version = "1.2"`',
    dependency_missing: 'this registry has no crate `{dependency}`, on which the crate depends; publish that one first, or name the registry it comes from: crates.io needs no `registry`',
    dependency_misspelled: 'this registry has no crate `{dependency}`, on which the crate depends, but it has `{existing}`; spell the dependency that way',
    dependency_foreign: 'the dependency `{dependency}` comes from another registry, {registry}, which this one does not allow; publish it here and add `registry = "…"` with the name of this registry to the dependency, or ask the operator to add that URL to `policy.allowed_registries`',
    dependency_path_trap: 'the dependency `{dependency}` is taken from crates.io, but this registry has a crate of that name; if that one is meant, as for a member of your workspace, add `registry = "…"` with the name of this registry to the dependency and publish again',
    issues_more: (p: { count: number }) =>
      `${p.count} more ${p.count === 1 ? 'error is' : 'errors are'} not shown; fix those above and try again`,
  },
} as const satisfies MessageTable
