import { accountMessages } from './error/accounts.ts'
import { importMessages } from './error/import.ts'

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

  // requirements
  requirement_invalid: (p: { requirement: string }) =>
    `\`${p.requirement}\` is not a version requirement that Cargo reads; write for example \`1.2\`, \`>=1, <3\` or \`*\``,

  // manifests
  manifest_toml: (p: { reason: string; line: number }) =>
    `\`Cargo.toml\` is not valid TOML at line ${p.line}: ${p.reason}`,
  manifest_package_missing: () => '`Cargo.toml` has no `[package]` table',
  manifest_key_missing: (p: { field: string }) => `\`${p.field}\` is missing in \`Cargo.toml\``,
  manifest_field: (p: { field: string; expected: string }) => `\`${p.field}\` in \`Cargo.toml\` must be ${p.expected}`,
  manifest_inherited: (p: { field: string }) =>
    `\`${p.field}\` in \`Cargo.toml\` is inherited from a workspace; make the crate file with \`cargo package\`, which fills it in`,
  manifest_patch: () =>
    '`Cargo.toml` has a `[patch]` table; make the crate file with `cargo package`, which removes it',
  manifest_requirement: (p: { field: string; reason: string }) => `\`${p.field}\` in \`Cargo.toml\`: ${p.reason}`,
  manifest_dependency_name: (p: { field: string; name: string }) =>
    `\`${p.field}\` in \`Cargo.toml\`: \`${p.name}\` is not a crate name; it takes ASCII letters, digits, \`-\` and \`_\``,
  manifest_optional_dev: (p: { field: string }) =>
    `\`${p.field}\` in \`Cargo.toml\` is optional; a dev-dependency cannot be`,
  manifest_registry_name: (p: { field: string; registry: string }) =>
    `\`${p.field}\` in \`Cargo.toml\` names the registry \`${p.registry}\` without its URL; make the crate file with \`cargo package\`, which writes \`registry-index\``,

  // archives
  archive_not_gzip: () =>
    'the crate file is not a gzip-compressed archive; upload the `.crate` that `cargo package` makes',
  archive_cut_off: () => 'the crate file ends too early; it was cut off, make or upload it again',
  archive_damaged: (p: { reason: string }) => `the crate file is damaged (${p.reason}); make or upload it again`,
  archive_trailing_data: () =>
    'the crate file has data after its end, which some tools would read and others not; make it again with `cargo package`',
  archive_too_large: (p: { max: number }) =>
    `the crate file unpacks to more than the ${p.max} bytes allowed; leave files out with \`package.exclude\``,
  archive_too_many_entries: (p: { max: number }) =>
    `the crate file has more than the ${p.max} files and folders allowed; leave some out with \`package.exclude\``,
  archive_header: (p: { path: string; reason: string }) =>
    `the archive member \`${p.path}\` cannot be read safely: ${p.reason}; make the crate file with \`cargo package\``,
  archive_type: (p: { path: string; type: string }) =>
    `\`${p.path}\` in the crate file is a ${p.type}; only regular files and folders are allowed`,
  archive_path: (p: { path: string; reason: string }) =>
    `the path \`${p.path}\` in the crate file is not allowed: ${p.reason}`,
  archive_path_encoding: (p: { path: string }) =>
    `the path \`${p.path}\` in the crate file is not valid UTF-8; rename the file`,
  archive_path_twice: (p: { path: string }) => `the crate file holds \`${p.path}\` twice; keep one of them`,
  archive_path_case: (p: { path: string; twin: string }) =>
    `\`${p.path}\` and \`${p.twin}\` differ only by case; on Windows and macOS one overwrites the other`,
  archive_path_windows: (p: { path: string }) => `\`${p.path}\` is a path that cannot exist on Windows`,
  archive_root: (p: { path: string; root: string }) =>
    `\`${p.path}\` in the crate file is not below \`${p.root}/\`; everything must be in that one folder`,
  archive_manifest_missing: () => 'the crate file has no `Cargo.toml` in its top folder',
  archive_manifest_case: (p: { path: string }) =>
    `the manifest in the crate file is called \`${p.path}\`; it must be called \`Cargo.toml\``,
  archive_manifests: (p: { paths: string }) =>
    `the crate file has more than one manifest in its top folder (\`${p.paths}\`); keep \`Cargo.toml\` only`,
  archive_file_too_large: (p: { path: string; size: number; max: number }) =>
    `\`${p.path}\` in the crate file has ${p.size} bytes; at most ${p.max} are allowed`,
  archive_file_encoding: (p: { path: string }) => `\`${p.path}\` in the crate file is not valid UTF-8`,
  archive_cargo_ok: (p: { path: string }) => `Cargo skips \`${p.path}\` when it unpacks the crate; leave it out`,

  // releases
  readme_missing: (p: { path: string }) =>
    `\`Cargo.toml\` names the README \`${p.path}\`, but the crate file does not hold it`,
  readme_too_large: (p: { path: string; max: number }) =>
    `\`${p.path}\` has more than ${p.max} bytes and is not shown on the crate's page`,
  release_identity: (p: { expected: string; found: string }) =>
    `the crate file was sent as ${p.expected}, but its \`Cargo.toml\` says ${p.found}`,
  metadata_field: (p: { field: string; reason: string }) =>
    `\`${p.field}\` of the publish metadata is not valid: ${p.reason}`,
  metadata_identity: (p: { field: string; metadata: string; manifest: string }) =>
    `\`${p.field}\` is \`${p.metadata}\` in the publish metadata, but \`${p.manifest}\` in the \`Cargo.toml\` of the crate file`,
  metadata_dependency: (p: { dependency: string; field: string; metadata: string; manifest: string }) =>
    `\`${p.field}\` of the ${p.dependency} is ${p.metadata} in the publish metadata, but ${p.manifest} in the \`Cargo.toml\` of the crate file`,
  metadata_dependency_missing: (p: { dependency: string }) =>
    `the ${p.dependency} is in the \`Cargo.toml\` of the crate file, but not in the publish metadata`,
  metadata_dependency_extra: (p: { dependency: string }) =>
    `the ${p.dependency} is in the publish metadata, but not in the \`Cargo.toml\` of the crate file`,
  metadata_feature: (p: { feature: string; metadata: string; manifest: string }) =>
    `the feature \`${p.feature}\` is ${p.metadata} in the publish metadata, but ${p.manifest} in the \`Cargo.toml\` of the crate file`,
  feature_name: (p: { feature: string }) =>
    `\`${p.feature}\` is not a feature name; it starts with a letter, digit or \`_\` and goes on with letters, digits, \`_\`, \`-\`, \`+\` and \`.\``,
  feature_value: (p: { feature: string; value: string; reason: string }) =>
    `the feature \`${p.feature}\` enables \`${p.value}\`, ${p.reason}`,
  feature_shadows: (p: { dependency: string }) =>
    `the optional dependency \`${p.dependency}\` is in no feature, because a feature has its name; add \`dep:${p.dependency}\` to a feature`,
  entry_not_json: (p: { reason: string }) => `the index entry is not valid JSON (${p.reason})`,
  entry_too_deep: (p: { max: number }) => `the index entry is nested more than ${p.max} levels deep`,
  entry_key_twice: (p: { key: string }) =>
    `the index entry has the key \`${p.key}\` twice; Cargo drops such a line, keep one of them`,
  entry_not_object: () => 'the index entry is not a JSON object',
  entry_field: (p: { field: string; expected: string }) => `\`${p.field}\` of the index entry must be ${p.expected}`,
  entry_requirement: (p: { field: string; reason: string }) => `\`${p.field}.req\` of the index entry: ${p.reason}`,
  entry_optional_dev: (p: { name: string }) =>
    `the dev-dependency \`${p.name}\` is optional; Cargo refuses an entry with an optional dev-dependency`,
  index_line: (p: { line: number; reason: string }) => `line ${p.line}: ${p.reason}`,
  index_name: (p: { line: number; name: string; first: string }) =>
    `line ${p.line}: the entry is of \`${p.name}\`, the file of \`${p.first}\`; Cargo would never find it`,
  index_version_twice: (p: { line: number; version: string; first: number }) =>
    `line ${p.line}: version ${p.version} is already on line ${p.first}; build metadata does not make it another version`,

  // policy
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
    `the dependency \`${p.dependency}\` comes from another registry, ${p.registry}, which this one does not allow; publish it here and add \`registry = "…"\` with the name of this registry to the dependency, or ask the operator to add that URL to \`policy.allowed_registries\``,
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
  crate_too_big: (p: { max: number }) =>
    `the .crate is bigger than the ${p.max} bytes allowed here; leave out what is not needed (\`exclude\` in Cargo.toml) or ask the operator to raise \`limits.crate_bytes\``,
  crate_lost: (p: { name: string; version: string }) =>
    `the .crate of \`${p.name}\` ${p.version} is missing from the crate store or damaged there; put it back from a backup of the registry folder and run \`plimsoll build --all\``,
  crate_unknown: (p: { name: string }) => `there is no crate \`${p.name}\` here`,
  readme_unknown: (p: { name: string; version: string }) => `${p.name} ${p.version} was packaged without a README`,
  release_unknown: (p: { name: string; version: string }) => `there is no version ${p.version} of \`${p.name}\` here`,
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

  // git index
  git_engine_missing: (p: { command: string }) =>
    `the git index needs an engine: neither \`nodegit\` nor the executable \`${p.command}\` can be used; install git 2.34 or newer, or run \`npm run setup:nodegit\`; the next start of the daemon, or \`plimsoll build\`, then catches up`,
  git_nodegit_missing: (p: { reason: string }) =>
    `the git engine \`nodegit\` was asked for but does not load (${p.reason}); run \`npm run setup:nodegit\`, or choose the engine \`git\``,
  git_too_old: (p: { command: string; version: string }) =>
    `\`${p.command}\` is version ${p.version}; the git index needs git 2.34 or newer, the next start of the daemon, or \`plimsoll build\`, then catches up`,
  git_index_occupied: (p: { path: string }) =>
    `\`${p.path}\` is not a bare git repository and not empty; move it away or name another folder for the git index`,
  git_index_format: (p: { path: string; format: string }) =>
    `the git repository \`${p.path}\` uses ${p.format}; the git index needs SHA-1 objects, refs as files and a HEAD that names a branch`,
  git_index_foreign: (p: { path: string }) =>
    `\`${p.path}\` was not made by \`plimsoll build --from\` and may have a history; move it away, or set \`git.index\` to "off"`,
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
  registry_exists: (p: { dir: string }) => `${p.dir} already holds a registry; nothing was changed`,
  not_a_registry: (p: { dir: string }) =>
    `${p.dir} holds no registry; make one with \`plimsoll init --dir ${p.dir}\`, or name another folder with --dir`,
  file_missing: (p: { path: string }) => `there is no file or folder ${p.path}`,
  registry_empty: (p: { from: string; out: string }) =>
    `there is no .crate file in or below ${p.from}, so ${p.out} is a registry without crates`,
  no_crates_found: (p: { path: string }) => `there is no .crate file in or below ${p.path}`,
  broken_file: (p: { path: string; message: string }) => `${p.path}: ${p.message}`,
  file_changed: (p: { path: string }) => `${p.path} was changed while it was read; run the command again`,
  twin_files: (p: { first: string; second: string; version: string }) =>
    `${p.first} and ${p.second} are both version ${p.version} with different bytes; keep the one that was published`,
  name_twins: (p: { first: string; second: string }) =>
    `\`${p.first}\` and \`${p.second}\` are one name to a registry; keep only one spelling`,
  yanked_unknown: (p: { spec: string }) =>
    `\`yanked\` in plimsoll.toml names ${p.spec}, but no such .crate is among the files`,
  folders_overlap: (p: { from: string; out: string }) =>
    `${p.from} lies inside ${p.out}, which would be rewritten; choose another --out`,
  folder_in_use: (p: { out: string }) =>
    `${p.out} has files in it that are no public tree; choose an empty folder or an earlier --out`,
  release_spec_invalid: (p: { spec: string }) => `\`${p.spec}\` does not name a release; write NAME@VERSION`,
  serve_locked: (p: { dir: string; holder: string }) =>
    `${p.dir} is already being served by ${p.holder}; stop that one first, or use another --dir`,
  address_taken: (p: { address: string; reason: string }) =>
    `cannot listen on ${p.address}: ${p.reason}; choose another address with --listen`,
  delete_needed: (p: { name: string; count: number; some: string }) =>
    `other crates depend on \`${p.name}\` (${p.count}: ${p.some}); yank it instead, or delete it with --force`,
  delete_unconfirmed: () => 'nothing was deleted; add --yes to delete for good',
  backup_exists: (p: { file: string }) => `${p.file} exists already; choose another name for the backup`,
  backup_foreign: (p: { file: string; entry: string }) =>
    `${p.file} is no backup of a registry: it holds ${p.entry}, which does not belong in one`,
  backup_incomplete: (p: { file: string; part: string }) =>
    `${p.file} is no whole backup: ${p.part} is missing from it`,
  backup_unreadable: (p: { file: string; reason: string }) => `${p.file} cannot be read as a backup: ${p.reason}`,
  restore_not_empty: (p: { dir: string }) => `${p.dir} is not empty; restore into a new folder with --dir`,
  backup_damaged: (p: { file: string; entry: string }) =>
    `${p.file} is damaged: the bytes of ${p.entry} are not those whose checksum names them`,
  duration_invalid: (p: { text: string }) => `\`${p.text}\` is no duration; write for example 90d, 12h, 30m or 10s`,
  limit_invalid: (p: { text: string }) => `\`${p.text}\` is no limit; write a whole number from 1 to 999999`,
  scope_invalid: (p: { scope: string; accepted: string }) => `\`${p.scope}\` is no scope; there are ${p.accepted}`,

  ...importMessages,
  ...accountMessages,

  // web API
  token_absent: (p: { me: string }) => `this needs a token; ${p.me} says how to get one, then run \`cargo login\``,
  token_rejected: (p: { me: string }) =>
    `this token is not valid: it is unknown, revoked or expired; ${p.me} says how to get another`,
  scope_missing: (p: { scope: string }) => `this token may not do that: it lacks the scope \`${p.scope}\``,
  crate_not_covered: (p: { name: string }) => `this token is not good for the crate \`${p.name}\``,
  metadata_too_big: (p: { size: number; max: number }) =>
    `the publish metadata has ${p.size} bytes; at most ${p.max} are allowed`,
  metadata_invalid: (p: { reason: string }) => `the publish metadata cannot be read: ${p.reason}`,
  body_short: (p: { part: string; announced: number }) =>
    `the publish request ends within the ${p.part}, which was announced with ${p.announced} bytes`,
  body_long: (p: { announced: number }) =>
    `the publish request goes on after the ${p.announced} bytes announced for the .crate`,
  body_lost: () => 'the connection broke before the whole request had arrived; send it again',
  release_present: (p: { name: string; version: string }) =>
    `\`${p.name}\` ${p.version} was published before with the same bytes; nothing has changed`,
  index_late: (p: { name: string }) => `the index of \`${p.name}\` could not be written yet; the daemon keeps trying`,
  unexpected: (p: { id: string }) =>
    `something unexpected went wrong; the operator finds the cause in the log under ${p.id}`,
  tls_unreadable: (p: { path: string; reason: string }) => `the TLS file ${p.path} cannot be read: ${p.reason}`,
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

  constructor(issues: readonly [Issue, ...Issue[]], options?: ErrorOptions & { readonly retryAfter?: number }) {
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
