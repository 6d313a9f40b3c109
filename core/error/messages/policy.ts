import type { MessageTable } from '../kind.ts'

/** What the policy objects to and warns of. */
export const policyMessages = {
  invalid: {
    name_reserved: (p: { name: string }) =>
      `the crate name \`${p.name}\` is reserved; choose another name`,
    name_looks_alike: (p: { name: string; others: readonly string[] }) =>
      `the crate name \`${p.name}\` is easily mistaken for the existing ${p.others.map(other => `\`${other}\``).join(', ')}; choose a name that differs more`,
    version_too_long: (p: { version: string; length: number; max: number }) =>
      `the version \`${p.version}\` has ${p.length} characters; at most ${p.max} are allowed (\`policy.version_max\`), shorten what follows \`-\` or \`+\``,
    description_missing: () =>
      'the crate has no description; set `description` in the [package] section of Cargo.toml',
    description_too_long: (p: { bytes: number; max: number }) =>
      `the description has ${p.bytes} bytes; at most ${p.max} are allowed (\`policy.description_max\`), move details to the README`,
    license_missing: () =>
      'the crate has no license; set `license` or `license-file` in the [package] section of Cargo.toml',
    license_invalid: (p: { license: string }) =>
      `the license \`${p.license}\` is not an SPDX expression; write one such as \`MIT OR Apache-2.0\`, or name your own text with \`license-file\``,
    url_invalid: (p: { field: string; url: string }) =>
      `\`${p.field}\` is \`${p.url}\`, which is not an absolute http or https URL; correct or remove it`,
    keywords_too_many: (p: { count: number; max: number }) =>
      `the crate has ${p.count} keywords; at most ${p.max} are allowed (\`policy.keywords_max\`)`,
    keyword_too_long: (p: { keyword: string; max: number }) =>
      `the keyword \`${p.keyword}\` is too long; at most ${p.max} characters are allowed (\`policy.keyword_length_max\`)`,
    keyword_invalid: (p: { keyword: string }) =>
      `the keyword \`${p.keyword}\` must be ASCII letters, digits, \`_\`, \`-\` and \`+\`, and begin with a letter or digit`,
    categories_too_many: (p: { count: number; max: number }) =>
      `the crate has ${p.count} categories; at most ${p.max} are allowed (\`policy.categories_max\`)`,
    category_unknown: (p: { category: string }) =>
      `this registry has no category \`${p.category}\`; remove it, or ask the operator to add it to \`policy.categories\``,
    features_too_many: (p: { count: number; max: number }) =>
      `the crate has ${p.count} features; at most ${p.max} are allowed (\`policy.features_max\`)`,
    feature_items_too_many: (p: { feature: string; count: number; max: number }) =>
      `the feature \`${p.feature}\` enables ${p.count} items; at most ${p.max} are allowed (\`policy.feature_items_max\`)`,
    feature_name_invalid: (p: { feature: string }) =>
      `the feature name \`${p.feature}\` must begin with a letter, a digit or \`_\` and go on with letters, digits, \`_\`, \`-\`, \`+\` and \`.\``,
    feature_value_invalid: (p: { feature: string; value: string }) =>
      `the feature \`${p.feature}\` enables \`${p.value}\`; write \`FEATURE\`, \`dep:DEPENDENCY\`, \`DEPENDENCY/FEATURE\` or \`DEPENDENCY?/FEATURE\``,
    feature_value_unknown: (p: { feature: string; value: string }) =>
      `the feature \`${p.feature}\` enables \`${p.value}\`, which is neither a feature nor an optional dependency; add it or remove it`,
    feature_value_explicit: (p: { feature: string; value: string }) =>
      `the feature \`${p.feature}\` enables \`${p.value}\`, a dependency that is not a feature because \`dep:${p.value}\` is used elsewhere; write \`dep:${p.value}\` here as well`,
    feature_value_required: (p: { feature: string; value: string; dependency: string }) =>
      `the feature \`${p.feature}\` enables \`${p.value}\`, but the dependency \`${p.dependency}\` is not optional; add \`optional = true\` to it or remove the item`,
    feature_dependency_unknown: (p: { feature: string; value: string; dependency: string }) =>
      `the feature \`${p.feature}\` enables \`${p.value}\`, but there is no dependency \`${p.dependency}\`; add it or remove the item`,
    dependency_unreachable: (p: { dependency: string }) =>
      `the optional dependency \`${p.dependency}\` is enabled by no feature; add \`dep:${p.dependency}\` to a feature`,
    dependencies_too_many: (p: { count: number; max: number }) =>
      `the crate has ${p.count} dependencies; at most ${p.max} are allowed (\`policy.dependencies_max\`)`,
    dependency_name_invalid: (p: { name: string }) =>
      `the dependency name \`${p.name}\` must be 1 to 64 ASCII letters, digits, \`-\` and \`_\`, a letter first`,
    dependency_rename_invalid: (p: { name: string; package: string }) =>
      `the dependency \`${p.package}\` is renamed to \`${p.name}\`; a new name must be 1 to 64 ASCII letters, digits, \`-\` and \`_\`, a letter or \`_\` first`,
    dependency_dev_optional: (p: { dependency: string }) =>
      `the dev-dependency \`${p.dependency}\` cannot be optional; remove \`optional = true\``,
    dependency_feature_invalid: (p: { dependency: string; feature: string }) =>
      `the dependency \`${p.dependency}\` requests the feature \`${p.feature}\`, which is not a valid feature name; correct or remove it`,
    dependency_wildcard: (p: { dependency: string }) =>
      `the dependency \`${p.dependency}\` accepts any version; name those it works with, for example \`version = "1.2"\``,
    dependency_missing: (p: { dependency: string }) =>
      `this registry has no crate \`${p.dependency}\`, on which the crate depends; publish that one first, or name the registry it comes from`,
    dependency_misspelled: (p: { dependency: string; existing: string }) =>
      `this registry has no crate \`${p.dependency}\`, on which the crate depends, but it has \`${p.existing}\`; spell the dependency that way`,
    dependency_foreign: (p: { dependency: string; registry: string }) =>
      `the dependency \`${p.dependency}\` comes from another registry, ${p.registry}, which this one does not allow; publish it here and add \`registry = "…"\` with the name of this registry to the dependency, or ask the operator to add that URL to \`policy.allowed_registries\``,
    dependency_path_trap: (p: { dependency: string }) =>
      `the dependency \`${p.dependency}\` is taken from crates.io, but this registry has a crate of that name; if that one is meant, as for a member of your workspace, add \`registry = "…"\` with the name of this registry to the dependency and publish again`,
    objections_more: (p: { count: number }) =>
      `${p.count} more ${p.count === 1 ? 'error is' : 'errors are'} not shown; fix those above and try again`,
  },
} as const satisfies MessageTable
