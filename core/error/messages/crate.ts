import type { MessageTable } from '../kind.ts'

/** What is wrong with a crate: its name, version, archive, manifest, metadata, entry. */
export const crateMessages = {
  invalid: {
    name_empty: () => 'a crate name cannot be empty',
    name_too_long: (p: { name: string; max: number }) =>
      `the crate name \`${p.name}\` has ${p.name.length} characters; at most ${p.max} are allowed`,
    name_start: (p: { name: string }) =>
      `the crate name \`${p.name}\` must start with an ASCII letter`,
    name_character: (p: { name: string; character: string }) =>
      `the crate name \`${p.name}\` contains \`${p.character}\`; only ASCII letters, digits, \`-\` and \`_\` are allowed`,
    version_invalid: (p: { version: string }) =>
      `\`${p.version}\` is not a valid SemVer 2.0.0 version; write it as MAJOR.MINOR.PATCH, for example \`1.0.0\``,
    requirement_invalid: (p: { requirement: string }) =>
      `\`${p.requirement}\` is not a version requirement that Cargo accepts; write for example \`1.2\`, \`>=1, <3\` or \`*\``,
    manifest_toml: (p: { reason: string; line: number }) =>
      `\`Cargo.toml\` is not valid TOML at line ${p.line}: ${p.reason}`,
    manifest_package_missing: () => '`Cargo.toml` has no `[package]` table',
    manifest_key_missing: (p: { field: string }) => `\`${p.field}\` is missing in \`Cargo.toml\``,
    manifest_field: (p: { field: string; expected: string }) =>
      `\`${p.field}\` in \`Cargo.toml\` must be ${p.expected}`,
    manifest_inherited: (p: { field: string }) =>
      `\`${p.field}\` in \`Cargo.toml\` is inherited from a workspace; make the crate file with \`cargo package\`, which fills it in`,
    manifest_patch: () =>
      '`Cargo.toml` has a `[patch]` table; make the crate file with `cargo package`, which removes it',
    manifest_requirement: (p: { field: string; reason: string }) =>
      `\`${p.field}\` in \`Cargo.toml\`: ${p.reason}`,
    manifest_dependency_name: (p: { field: string; name: string }) =>
      `\`${p.field}\` in \`Cargo.toml\`: \`${p.name}\` is not a crate name; it takes ASCII letters, digits, \`-\` and \`_\``,
    manifest_optional_dev: (p: { field: string }) =>
      `\`${p.field}\` in \`Cargo.toml\` is optional; a dev-dependency cannot be`,
    manifest_registry_name: (p: { field: string; registry: string }) =>
      `\`${p.field}\` in \`Cargo.toml\` names the registry \`${p.registry}\` without its URL; make the crate file with \`cargo package\`, which writes \`registry-index\``,
    archive_not_gzip: () =>
      'the crate file is not a gzip-compressed archive; upload the `.crate` that `cargo package` makes',
    archive_cut_off: () => 'the crate file ends too early; it was cut off: make or upload it again',
    archive_damaged: (p: { reason: string }) =>
      `the crate file is damaged (${p.reason}); make or upload it again`,
    archive_trailing_data: () =>
      'the crate file has data after its end, which some tools would read and others would not; make it again with `cargo package`',
    archive_too_large: (p: { max: number }) =>
      `the crate file unpacks to more than ${p.max} bytes (\`limits.unpacked_bytes\`); leave files out with \`package.exclude\``,
    archive_costly: (p: { because: string }) =>
      `the crate file cannot be checked because ${p.because}; leave files out with \`package.exclude\``,
    archive_too_many_entries: (p: { max: number }) =>
      `the crate file has more than ${p.max} files and folders (\`limits.archive_entries\`); leave some out with \`package.exclude\``,
    archive_header: (p: { path: string; reason: string }) =>
      `the archive member \`${p.path}\` cannot be read safely: ${p.reason}; make the crate file with \`cargo package\``,
    archive_type: (p: { path: string; type: string }) =>
      `\`${p.path}\` in the crate file is a ${p.type}; only regular files and folders are allowed`,
    archive_path: (p: { path: string; reason: string }) =>
      `the path \`${p.path}\` in the crate file is not allowed: ${p.reason}`,
    archive_path_encoding: (p: { path: string }) =>
      `the path \`${p.path}\` in the crate file is not valid UTF-8; rename the file`,
    archive_path_twice: (p: { path: string }) =>
      `the crate file holds \`${p.path}\` twice; keep one of them`,
    archive_manifest_twice: () =>
      'the crate file holds two identical `Cargo.toml` entries, as Cargo made them before 2016; package it again, or ask the operator to set `policy.duplicate_manifest` to "allow"',
    archive_path_case: (p: { path: string; twin: string }) =>
      `\`${p.path}\` and \`${p.twin}\` differ only in case; on Windows and macOS one overwrites the other`,
    archive_path_windows: (p: { path: string }) =>
      `\`${p.path}\` is a path that cannot exist on Windows`,
    archive_root: (p: { path: string; root: string }) =>
      `\`${p.path}\` in the crate file is not below \`${p.root}/\`; everything must be in that one folder`,
    archive_manifest_missing: () => 'the crate file has no `Cargo.toml` in its top folder',
    archive_manifest_case: (p: { path: string }) =>
      `the manifest in the crate file is called \`${p.path}\`; it must be called \`Cargo.toml\``,
    archive_manifests: (p: { paths: string }) =>
      `the crate file has more than one manifest in its top folder (\`${p.paths}\`); keep \`Cargo.toml\` only`,
    archive_file_too_large: (p: { path: string; size: number; max: number }) =>
      `\`${p.path}\` in the crate file has ${p.size} bytes; at most ${p.max} are allowed (\`limits.manifest_bytes\`)`,
    archive_file_encoding: (p: { path: string }) =>
      `\`${p.path}\` in the crate file is not valid UTF-8`,
    archive_cargo_ok: (p: { path: string }) =>
      `Cargo skips \`${p.path}\` when it unpacks the crate; leave it out`,
    readme_missing: (p: { path: string }) =>
      `\`Cargo.toml\` names the README \`${p.path}\`, but the crate file does not contain it`,
    readme_too_large: (p: { path: string; max: number }) =>
      `\`${p.path}\` has more than ${p.max} bytes (\`limits.readme_bytes\`) and is not shown on the crate's page`,
    release_identity: (p: { expected: string; found: string }) =>
      `the crate file was sent as ${p.expected}, but its \`Cargo.toml\` says ${p.found}`,
    metadata_field: (p: { field: string; reason: string }) =>
      `\`${p.field}\` of the publish metadata is not valid: ${p.reason}`,
    metadata_identity: (p: { field: string; metadata: string; manifest: string }) =>
      `\`${p.field}\` is \`${p.metadata}\` in the publish metadata, but \`${p.manifest}\` in the \`Cargo.toml\` of the crate file`,
    metadata_dependency: (p: {
      dependency: string
      field: string
      metadata: string
      manifest: string
    }) =>
      `\`${p.field}\` of the ${p.dependency} is ${p.metadata} in the publish metadata, but ${p.manifest} in the \`Cargo.toml\` of the crate file`,
    metadata_dependency_missing: (p: { dependency: string }) =>
      `the ${p.dependency} is in the \`Cargo.toml\` of the crate file, but not in the publish metadata`,
    metadata_dependency_extra: (p: { dependency: string }) =>
      `the ${p.dependency} is in the publish metadata, but not in the \`Cargo.toml\` of the crate file`,
    metadata_feature: (p: { feature: string; metadata: string; manifest: string }) =>
      `the feature \`${p.feature}\` is ${p.metadata} in the publish metadata, but ${p.manifest} in the \`Cargo.toml\` of the crate file`,
    entry_not_json: (p: { reason: string }) => `the index entry is not valid JSON (${p.reason})`,
    entry_too_deep: (p: { max: number }) =>
      `the index entry is nested more than ${p.max} levels deep`,
    entry_key_twice: (p: { key: string }) =>
      `the index entry has the key \`${p.key}\` twice; Cargo drops such a line, keep one of them`,
    entry_not_object: () => 'the index entry is not a JSON object',
    entry_field: (p: { field: string; expected: string }) =>
      `\`${p.field}\` of the index entry must be ${p.expected}`,
    entry_requirement: (p: { field: string; reason: string }) =>
      `\`${p.field}.req\` of the index entry: ${p.reason}`,
    entry_optional_dev: (p: { name: string }) =>
      `the dev-dependency \`${p.name}\` is optional; Cargo refuses an entry with an optional dev-dependency`,
    index_line: (p: { line: number; reason: string }) => `line ${p.line}: ${p.reason}`,
    index_name: (p: { line: number; name: string; first: string }) =>
      `line ${p.line}: the entry is of \`${p.name}\`, the file of \`${p.first}\`; Cargo would never find it`,
    index_version_twice: (p: { line: number; version: string; first: number }) =>
      `line ${p.line}: version ${p.version} is already on line ${p.first}; build metadata does not make it another version`,
  },
} as const satisfies MessageTable
