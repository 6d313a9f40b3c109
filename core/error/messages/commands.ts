import type { MessageTable } from './kind.ts'

export const commandMessages = {
  misuse: {
    registry_exists: '{dir} already contains a registry; nothing was changed',
    not_a_registry:
      '{dir} is not a registry; create one with `plimsoll init --dir {dir}`, or name another folder with --dir',
    registry_of_other:
      "{dir} belongs to the user {uid}, and its daemon could not use files of the user {user}; nothing was changed; run the same command with `sudo -u '#{uid}'` in front of it",
    restore_outside: '`{key}` leads out of {dir}, where restore changes nothing; leave it out',
    check_target:
      '{target} is not a registry that can be checked; write sparse+https://HOST/PATH/ of a sparse index, the URL of a git index, or the folder of a static tree',
    check_cargo: '{path} cannot be run as Cargo; name another with --cargo',
    check_token:
      'a token is needed: give one to standard input with --token-stdin, as a line of ASCII',
    check_unsure: 'nothing was published; add --yes to publish, or answer yes at a terminal',
    file_missing: 'there is no file or folder {path}',
    file_special: '{path} is neither a file nor a folder',
    file_folder: '{path} is a folder, where a file is needed',
    no_crates_found: 'there is no .crate file in or below {path}',
    folders_overlap: '{from} lies inside {out}, which would be rewritten; choose another --out',
    folder_in_use:
      '{out} contains files that are not a public tree; choose an empty folder, or that of an earlier tree',
    folder_of_registry:
      '{out} is the tree of the registry {dir}, which renders it; choose another --out, or add the files with `plimsoll add`',
    cache_public:
      '{path} would be in the tree, which everybody may read; choose a --cache outside of it',
    deploy_no_tree:
      '{from} is not a public tree: it has no index/config.json; name one with --from, or `plimsoll build` first',
    deploy_same: '{to} and the tree to upload lie inside each other; choose another --to',
    deploy_registry:
      '{to} is a registry folder, into which no tree is uploaded; nothing was changed; choose another --to',
    deploy_foreign:
      '{to} contains {path} but no index/config.json, so it is not a public tree; nothing was changed; choose an empty place or an earlier --to',
    deploy_unfinished:
      '{to} has no index/config.json yet, so nothing is removed there; nothing was changed; leave out --delete until an upload has ended',
    deploy_not_pushed:
      '{to} has no index/config.json, so `push` cannot add to it; nothing was changed; push to it first, or leave out --pages',
    places_overlap:
      '{one} and {other} lie inside each other, and files that no crate has are removed from the public tree; name other places with `storage.public` and `storage.crates`',
    backup_public:
      '{file} would be in the public tree, which everybody may read; name a place outside of it',
    migrate_nothing:
      'say what to move: the records with --to, .crate files with --crates, or both; --public goes with --to',
    push_other_config:
      '{to} has another index/config.json ({theirs}) than these settings make ({ours}); push with the settings of that tree, such as its --base-url',
    bucket_address:
      '`{given}` is neither a folder nor the address of a bucket; write a path or s3://BUCKET/PREFIX',
    release_spec_invalid: '`{spec}` does not name a release; write NAME@VERSION',
    crate_spec_invalid:
      '`{spec}` names no crate to fetch; write NAME or NAME@REQUIREMENT, such as `serde@1.2`',
    daemons_apart:
      'the daemon on {host} (process {process}, {url}) serves the same database, but {dir} is not its folder: set `{key}` to a folder that all daemons share (docs/run/several-daemons.md)',
    base_url_missing:
      'it is not known at which address users reach {address}; name it with --base-url, or as `registry.base_url`',
    access_kept:
      'nothing sets {keys} any more, so they stay as the daemon had them when it was started last; write what you want into plimsoll.toml, and start it once with --set KEY=VALUE if that opens more than before',
    access_unknown:
      'what the daemon keeps of its last start is not among these settings, because the records cannot be read: {reason}; mend that, then look again',
    base_url_changed:
      'until now `config.json`, pages and the lock files of users had the address {before}; from now on they have {now}, which Cargo takes for another registry; set `registry.base_url` to an address that stays',
    node_ended: 'Node {node} has had no security updates since 30 April 2026; install Node 24',
    downloads_not_imported:
      'the setting `downloads.count` is "{count}", so nothing was imported; set it to "imported", or for logs of the time before the daemon counted, add `--set downloads.count=imported` once',
    duration_invalid: '`{text}` is not a duration; write for example 90d, 12h, 30m or 10s',
    limit_invalid: '`{text}` is not a limit; write a whole number from 1 to 999999',
    scope_invalid: '`{scope}` is not a scope; the scopes are {accepted}',
    settings_syntax: '{file}, line {line}, column {column}: this is not TOML: {problem}',
    setting_unknown: (p: {
      where: string
      key: string
      suggestion: string | null
      accepted: readonly string[]
    }) =>
      `${p.where}: there is no setting \`${p.key}\`; ${p.suggestion === null ? `accepted: ${p.accepted.join(', ')}` : `did you mean \`${p.suggestion}\`?`}`,
    setting_invalid: '{where}: `{key}` cannot be {given}; accepted: {accepts}',
    setting_twice: '`{key}` is set differently by {first} and by {second}; remove one of them',
    setting_missing: '`{because}` is set but `{key}` is not; set both or neither',
    oidc_issuer_twice:
      '`oidc.{first}` and `oidc.{second}` have the same issuer, {issuer}; remove one of them',
    oidc_local:
      'no section can be called [oidc.local]: `group:local/NAME` is a group that was made by hand',
    oidc_common:
      '`oidc.{name}.issuer` cannot be {issuer}, where everybody may have an account and whose tokens name another issuer; write the issuer of your own tenant, https://login.microsoftonline.com/TENANT-ID/v2.0',
    oidc_strangers:
      'anybody may have an account at {issuer}, so `oidc.{name}` would make everybody a user here; say by `oidc.{name}.require` or `oidc.{name}.allowed_groups` who may log in',
    passwords_off_alone:
      '`auth.passwords` is "off" and there is no section [oidc.NAME], so nobody could log in; add one, or set it to "on"',
    upstream_index_missing:
      '`upstream.{name}.index` is missing: the sparse index of the upstream, such as "sparse+https://crates.example.com/index/"; only `crates-io` has a default',
    upstream_token:
      'the token of the upstream `{upstream}` cannot be read from {path}: {reason}; see `upstream.{upstream}.token_file`',
    upstream_closure: 'more than {max} versions are needed; name fewer crates',
    upstream_none:
      'this registry has no upstream; add a section such as [upstream.crates-io] to plimsoll.toml',
    upstream_storage:
      '`upstream.{name}.storage` ({place}) and {other} lie in one another; choose a place of its own',
    upstream_fallback_dl:
      '`upstream.{name}.fallback` needs `registry.dl = "auto"`: downloads of other crates come to that address, too',
    upstream_fallback_twice:
      '`upstream.{first}.fallback` and `upstream.{second}.fallback` are both on; only one upstream can answer for the names that are not here',
    upstream_unknown: (p: { name: string; upstreams: readonly string[] }) =>
      p.upstreams.length === 0
        ? `there is no upstream \`${p.name}\`; add a section [upstream.${p.name}] to plimsoll.toml`
        : `there is no upstream \`${p.name}\`; the upstreams are ${p.upstreams.join(', ')}`,
    config_address_guessed:
      '`registry.base_url` is not set, so the block has the address {address}, which users may not reach; set it, or name the address with --base-url',
    dl_unanswerable:
      '`registry.dl` ({dl}) is below {base}, but cannot be answered there: {reason}; choose another template, such as "auto"',
    tls_unreadable: 'the TLS file {path} cannot be read: {reason}',
    tls_invalid: 'the TLS file {path} does not contain {what} in PEM: {reason}',
    proxy_invalid:
      'the variable {variable} is not the URL of a proxy, such as "http://proxy.example.com:3128"',
    tls_expired: 'the certificate in {cert} expired on {at:date}; clients refuse it, renew it',
    tls_early:
      'the certificate in {cert} is not valid before {at:date}; check the clock of this machine',
    tls_foreign:
      'the certificate in {cert} is not for {host}, where clients reach this registry (`registry.base_url`)',
    tls_mismatch: 'the private key in {key} does not belong to the certificate in {cert}',
  },
  invalid: {
    lock_file_invalid: '{file} cannot be read as a Cargo.lock: {reason}',
    export_not_empty:
      '{dir} is a file or has something in it; nothing was written; choose another folder',
    export_twins:
      'two registries have a {file} with different bytes, which one folder cannot keep apart; export their lock files one by one',
    export_missing: (p: {
      missing: readonly { name: string; version: string; source: string }[]
    }) => {
      const lines = p.missing.map(
        ({ name, version, source }) => `\n  ${name} ${version} of ${source}`,
      )
      return `nothing was written, because these crates are not here, or not with the checksum in the lock file; \`plimsoll upstream fetch --lock\` with the same lock files gets those of an upstream:${lines.join('')}`
    },
    export_other: '`{name}` comes from no registry, such as from git, and is not in the folder',
    log_unreadable: 'the access log {path} cannot be read: {reason}; the others were imported',
    import_running: 'another import of downloads is running ({holder}); try again later',
    records_missing:
      'the database {file} is missing or empty, but {dir} contains .crate files; restore a backup into a new folder, or move {dir}/public away and `plimsoll import` it into a new registry',
    upgrade_held:
      '{version} needs {work}, and then these daemons would not work any more: {daemons}; stop them, or upgrade them to a version between, and start this again; nothing was changed, and a daemon that was killed counts for 20 s (docs/run/several-daemons.md)',
    upgrade_needed: (p: {
      file: string
      from: string
      to: string
      version: string
      daemons: readonly string[]
    }) => {
      const cure =
        p.daemons.length > 0
          ? `it is served by ${p.daemons.join('; ')}: use the program of that version, or stop it and run \`plimsoll serve\` of this one`
          : 'no daemon serves it: back it up with the older version, then run `plimsoll serve` or `plimsoll build`, which upgrade it'
      return `${p.file} is of an older version of Plimsoll: it has ${p.from}, and ${p.version} needs ${p.to}; nothing was changed, and ${cure} (docs/run/upgrade.md)`
    },
    listings_changed:
      'another version has derived lists and search in a format that {version} does not know; start this daemon again, with the version of the others (docs/run/several-daemons.md)',
    registry_newer:
      '{file} was written by a newer version of Plimsoll than this one, which is {running} (it does not know {steps}); run that version again, or restore a backup from before the upgrade into a new folder (docs/run/upgrade.md)',
    registry_too_old:
      '{file} is too old to be upgraded: it has no step {first}; open it with a version of Plimsoll between first (docs/run/upgrade.md)',
    dl_elsewhere:
      'Cargo downloads from {dl}, which is not below {base}: that host has to have the .crate files',
    package_replaced:
      '{path} had other bytes until now; Cargo refuses the new ones where a lock file or a cache has the old ones, so publish a new version instead',
    cache_left: 'the cache {path} {why}, so everything is built; the next build is faster again',
    cache_foreign:
      '{path} is not a cache of builds, so everything is built and nothing kept; choose another --cache, or remove it',
    registry_empty: 'there is no .crate file in or below {from}, so {out} has no crates',
    file_changed: '{path} changed while it was read; run the command again',
    twin_files:
      '{first} and {second} are both version {version}, build metadata aside, with different bytes; keep the one that was published',
    name_twins: '`{first}` and `{second}` are the same name to a registry; keep only one spelling',
    push_unlisted:
      'another push of `{name}` {version}, with different bytes, is under way or was stopped before its end; push the same file as it did, or when it is dead, remove {path} and try again',
    push_reserved:
      'another push makes `{existing}`, which is the same name as `{name}`, or was stopped before its end; push `{existing}`, or when it is dead, remove {path} and try again',
    push_contended: 'others kept changing {path}; try again',
    yanked_unknown: '`yanked` in plimsoll.toml names {spec}, but no such .crate is among the files',
    deprecated_unknown:
      '`deprecated` in plimsoll.toml names {name}, but no such crate is among the files',
    delete_needed:
      'other crates depend on `{name}` ({count} of their versions, such as {some}); yank it instead, or delete it with --force',
    prune_unconfirmed: 'nothing was removed; add --yes to really remove them',
    delete_unconfirmed: 'nothing was deleted; add --yes to delete for good',
    advisories_unconfirmed: 'nothing was taken; add --yes to deny these versions',
    user_remove_unconfirmed: 'nobody was removed; add --yes to remove them for good',
    backup_exists: '{file} already exists; choose another name for the backup',
    migrate_not_empty:
      'the database to move to has records already, so nothing was changed; name an empty one',
    migrate_newer:
      'a newer version of Plimsoll has upgraded one of the two databases; run that version, nothing was copied',
    migrate_differs:
      'the copy of the table {table} differs from the records, which are in use as before; check both databases, and move again',
    migrate_running:
      'a `plimsoll migrate` is copying these records to {place}; wait for its end, or give it up with `plimsoll resume`',
    pause_lost:
      'the pause ended before everything was copied, by `plimsoll resume` or because this process stood still; move again, the registry is in use as before',
    move_unfinished:
      '{file} is a copy of {place} that is not complete; run `plimsoll migrate` again where it was begun',
    records_moved:
      'the records in {file} were moved to {place} at {at}, and take no changes since; say in the settings where they are (docs/run/move.md)',
    migrate_crates_same: 'the .crate files are in {place} already; name another place',
    migrate_crate_differs:
      'the copy of `{name}` {version} in {place} has other bytes; check that storage, and run the command again',
    migrate_public_served:
      'the daemon of this folder works in {folder} while it serves the tree of a bucket; name another folder for --public',
    migrate_public_same: 'the public tree is in {place} already; leave out --public',
    migrate_tree_incomplete:
      'the public tree of {dir} is not complete; run `plimsoll build` first, or leave out --public',
    migrate_file_exists:
      'there are records in {file}, which were not moved away; move the file away to move those of a server there',
    backup_overtaken:
      '`{name}` {version} was deleted while the backup was made, and this happened on every attempt; try again later',
    backup_foreign: '{file} is not a backup of a registry: it contains {entry}',
    backup_incomplete: '{file} is an incomplete backup: {part} is missing',
    backup_unreadable: '{file} cannot be read as a backup: {reason}',
    restore_not_empty:
      '{dir} is not empty, it contains {entry}; restore into a new folder with --dir',
    restore_again:
      'a restore into {dir} was killed before its end; what it had left there was removed first',
    restore_variables:
      'the environment names places outside of {dir} ({names}): restore ignored them, but other commands will change what is there; unset them while they belong to another registry',
    daemon_silent:
      'the daemon at {address} does not answer as a healthy one ({reason}); look at its log, or start it with `plimsoll serve`',
    backup_damaged: '{file} is damaged: the bytes of {entry} do not have the checksum in its name',
  },
  full: {
    storage_server_full:
      'the disk of the database server is full ({reason}); nothing was changed, try again when there is room',
    storage_full:
      'the disk of the registry is full: {reason}; the change was not made, try again when there is room',
  },
  busy: {
    backup_running: 'another backup of {dir} is being made ({holder}); wait for its end',
    restore_running: 'another backup is being restored into {dir} ({holder}); wait for its end',
    serve_locked: '{dir} is already being served by {holder}; stop it first, or use another --dir',
    daemons_differ:
      'the daemon on {host} (process {process}, {url}) serves the same database, and not everything is the same there: {names}; give all daemons the same settings and version, or stop the others first (docs/run/several-daemons.md)',
    address_taken: 'cannot listen on {address}: {reason}; choose another address with --listen',
    storage_readonly:
      'the registry cannot be written to: {reason}; nothing was changed, try again when its disk and its database take writes',
    registry_moved:
      'the records of this registry have moved, and nothing can be changed here any more; nothing was changed, try again in some minutes',
    registry_paused:
      'the registry is paused and takes no changes until {until} at the latest; nothing was changed, try again then (operators end a pause with `plimsoll resume`)',
    database_locked:
      'another process keeps the database locked ({reason}); wait for it or stop it, then try again',
    database_conflict: 'another change came in between ({reason}); nothing was changed, try again',
    database_slow:
      'the database took longer than `database.statement_seconds` allows ({reason}); nothing was changed, try again later',
    database_away:
      'the database cannot be reached ({reason}); nothing was changed, try again in some seconds',
    commit_unknown:
      'nobody knows whether the change was made, or will last: {reason}; look whether it was made, then try again',
    threads_exhausted:
      'the operating system starts no more threads or processes: {reason}; raise the limit (`ulimit -u`, `TasksMax=` of the service, or that of the container), then try again',
    files_exhausted:
      'too many files are open: {reason}; raise the limit (`ulimit -n`, or `LimitNOFILE=` of the service), then try again',
  },
  failed: {
    fault_unexpected:
      'something failed that Plimsoll does not know ({reason}); please report what the same command prints with NODE_DEBUG=plimsoll',
    storage_behind:
      'the change was made, but not all that shows it: {reason}; when that is mended, run `plimsoll build`',
    database_denied:
      'the database server refuses this registry ({reason}); check user, password, database and TLS in the `database` settings',
    database_unusable:
      'the database cannot be opened: {reason}; check that its folder exists and may be written to by this user',
    access_denied:
      'the operating system denies access: {reason}; run this as the user who owns the folder; on a registry of another user, root works with the rights of that user',
    system_refuses: 'the operating system reports an error: {reason}',
    database_damaged:
      'the database is damaged: {reason}; stop the daemon and keep the folder, then restore the newest backup into a new folder with `plimsoll restore`, or `plimsoll import` its `public` folder into a new registry',
    storage_server_failing:
      'the disk of the database server reports an error ({reason}); look for its cause in the log of that server',
    storage_failing:
      'the disk reports an error: {reason}; look for its cause in the log of the operating system, then check the registry with `plimsoll verify`',
    delete_unfinished:
      '`{name}` is gone from the records, but some of its deleted files and bytes are left; run the command again to remove them',
    page_failed: (p: { kind: string; of: string; reason: string }) =>
      `work of the kind \`${p.kind}\`${p.of === '' ? '' : ` for ${p.of}`} failed and is still to be done: ${p.reason}`,
  },
} as const satisfies MessageTable
