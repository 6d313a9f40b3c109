import type { MessageTable } from './kind.ts'

export const crateMessages = {
  invalid: {
    name_empty: 'a crate name cannot be empty',
    name_too_long: (p: { name: string; max: number }) =>
      `the crate name \`${p.name}\` has ${p.name.length} characters; at most ${p.max} are allowed`,
    name_start: 'the crate name `{name}` must start with an ASCII letter',
    name_character:
      'the crate name `{name}` contains `{character}`; only ASCII letters, digits, `-` and `_` are allowed',
    version_invalid:
      '`{version}` is not a valid SemVer 2.0.0 version; write it as MAJOR.MINOR.PATCH, for example `1.0.0`',
    requirement_invalid:
      '`{requirement}` is not a version requirement that Cargo accepts; write for example `1.2`, `>=1, <3` or `*`',
    manifest_toml: '`Cargo.toml` is not valid TOML at line {line}: {reason}',
    manifest_package_missing: '`Cargo.toml` has no `[package]` table',
    manifest_key_missing: '`{field}` is missing in `Cargo.toml`',
    manifest_field: '`{field}` in `Cargo.toml` must be {expected}',
    manifest_text:
      '`{field}` in `Cargo.toml` contains the character U+0000, which no registry can store; remove it',
    manifest_inherited:
      '`{field}` in `Cargo.toml` is inherited from a workspace; create the crate file with `cargo package`, which fills it in',
    manifest_patch:
      '`Cargo.toml` has a `[patch]` table; create the crate file with `cargo package`, which removes it',
    manifest_requirement: '`{field}` in `Cargo.toml`: {reason}',
    manifest_dependency_name:
      '`{field}` in `Cargo.toml`: `{name}` is not a crate name; use ASCII letters, digits, `-` and `_`',
    manifest_optional_dev: '`{field}` in `Cargo.toml` is optional; a dev-dependency cannot be',
    manifest_registry_name:
      '`{field}` in `Cargo.toml` names the registry `{registry}` without its URL; create the crate file with `cargo package`, which writes `registry-index`',
    archive_not_gzip:
      'the crate file is not a gzip-compressed archive; upload the `.crate` that `cargo package` makes',
    archive_cut_off:
      'the crate file ends too early because it was cut off; create or upload it again',
    archive_damaged: 'the crate file is damaged ({reason}); create or upload it again',
    archive_trailing_data:
      'the crate file has data after its end, which some tools would read and others would not; make it again with `cargo package`',
    archive_too_large:
      'the crate file unpacks to more than {max:size} (`limits.unpacked_bytes`); leave files out with `package.exclude`',
    archive_costly:
      'the crate file cannot be checked because {because}; leave files out with `package.exclude`',
    archive_too_many_entries:
      'the crate file has more than {max} files and folders (`limits.archive_entries`); leave some out with `package.exclude`',
    archive_header:
      'the archive member `{path}` cannot be read safely: {reason}; create the crate file with `cargo package`',
    archive_type:
      '`{path}` in the crate file is a {type}; only regular files and folders are allowed',
    archive_path: 'the path `{path}` in the crate file is not allowed: {reason}',
    archive_path_encoding: 'the path `{path}` in the crate file is not UTF-8; rename the file',
    archive_path_twice: 'the crate file contains `{path}` twice; keep one of them',
    archive_manifest_twice:
      'the crate file contains two identical `Cargo.toml` entries, as Cargo made them before 2016; package it again, or ask the operator to set `policy.duplicate_manifest` to "allow"',
    archive_published:
      'if the crate file was published elsewhere, `plimsoll import FILE --as crates` takes it over as it is; Cargo builds with it',
    archive_path_case:
      '`{path}` and `{twin}` differ only in case; on Windows and macOS one overwrites the other',
    archive_path_normalized:
      '`{path}` and `{twin}` differ only in how Unicode writes them (NFC and NFD); on macOS one overwrites the other',
    crate_absent: 'there is no file: a link leads nowhere, or it was removed; mend or remove it',
    crate_name_encoding: 'its name is not UTF-8, so it cannot be opened; rename it',
    crate_special: 'it is no file, but a socket, pipe or device, and is left out',
    archive_path_windows: '`{path}` is a path that cannot exist on Windows',
    archive_warnings_more: (p: { count: number }) =>
      `${p.count} more ${p.count === 1 ? 'path' : 'paths'} in the crate file caused warnings`,
    archive_root:
      '`{path}` in the crate file is not below `{root}/`; everything must be in that one folder',
    archive_manifest_missing: 'the crate file has no `Cargo.toml` in its top folder',
    archive_manifest_case:
      'the manifest in the crate file is called `{path}`; it must be called `Cargo.toml`',
    archive_manifests:
      'the crate file has more than one manifest in its top folder (`{paths}`); keep `Cargo.toml` only',
    archive_file_too_large:
      '`{path}` in the crate file has {size:size}; at most {max:size} are allowed (`limits.manifest_bytes`)',
    archive_file_encoding: '`{path}` in the crate file is not valid UTF-8',
    archive_cargo_ok: 'Cargo skips `{path}` when it unpacks the crate; leave it out',
    library_missing:
      '`Cargo.toml` has a [lib] section, but the crate file has no `src/lib.rs`; add that file, or name another with `path`',
    readme_missing:
      '`Cargo.toml` names the README `{path}`, but the crate file does not contain it',
    readme_too_large:
      "`{path}` has more than {max:size} (`limits.readme_bytes`) and is not shown on the crate's page",
    release_identity: 'the crate file was sent as {expected}, but its `Cargo.toml` says {found}',
    metadata_field: '`{field}` of the publish metadata is not valid: {reason}',
    metadata_identity:
      '`{field}` is `{metadata}` in the publish metadata, but `{manifest}` in the `Cargo.toml` of the crate file',
    metadata_dependency:
      '`{field}` of the {dependency} is {metadata} in the publish metadata, but {manifest} in the `Cargo.toml` of the crate file',
    metadata_dependency_missing:
      'the {dependency} is in the `Cargo.toml` of the crate file, but not in the publish metadata',
    metadata_dependency_extra:
      'the {dependency} is in the publish metadata, but not in the `Cargo.toml` of the crate file',
    metadata_feature:
      'the feature `{feature}` is {metadata} in the publish metadata, but {manifest} in the `Cargo.toml` of the crate file',
    entry_not_json: 'the index entry is not valid JSON ({reason})',
    entry_too_deep: 'the index entry is nested more than {max} levels deep',
    entry_key_twice: 'the index entry has the key `{key}` twice, so Cargo ignores it; keep one',
    entry_not_object: 'the index entry is not a JSON object',
    entry_field: '`{field}` of the index entry must be {expected}',
    entry_text:
      '`{field}` of the index entry contains the character U+0000 or half a surrogate pair, which no registry can store; remove it',
    entry_requirement: '`{field}.req` of the index entry: {reason}',
    entry_optional_dev:
      'the dev-dependency `{name}` is optional; Cargo refuses an entry with an optional dev-dependency',
    index_line: 'line {line}: {reason}',
    index_name:
      'line {line}: the entry is for `{name}`, but the file is for `{first}`; Cargo would never find it',
  },
} as const satisfies MessageTable
