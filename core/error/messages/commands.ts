import type { MessageTable } from '../kind.ts'

/** What commands refuse. */
export const commandMessages = {
  misuse: {
    registry_exists: (p: { dir: string }) =>
      `${p.dir} already holds a registry; nothing was changed`,
    not_a_registry: (p: { dir: string }) =>
      `${p.dir} is not a registry; make one with \`plimsoll init --dir ${p.dir}\`, or name another folder with --dir`,
    file_missing: (p: { path: string }) => `there is no file or folder ${p.path}`,
    no_crates_found: (p: { path: string }) => `there is no .crate file in or below ${p.path}`,
    folders_overlap: (p: { from: string; out: string }) =>
      `${p.from} lies inside ${p.out}, which would be rewritten; choose another --out`,
    folder_in_use: (p: { out: string }) =>
      `${p.out} contains files that are not a public tree; choose an empty folder or an earlier --out`,
    release_spec_invalid: (p: { spec: string }) =>
      `\`${p.spec}\` does not name a release; write NAME@VERSION`,
    serve_locked: (p: { dir: string; holder: string }) =>
      `${p.dir} is already being served by ${p.holder}; stop it first, or use another --dir`,
    base_url_missing: (p: { address: string }) =>
      `${p.address} has no URL; set \`registry.base_url\` to the address at which users reach the registry`,
    address_taken: (p: { address: string; reason: string }) =>
      `cannot listen on ${p.address}: ${p.reason}; choose another address with --listen`,
    duration_invalid: (p: { text: string }) =>
      `\`${p.text}\` is not a duration; write for example 90d, 12h, 30m or 10s`,
    limit_invalid: (p: { text: string }) =>
      `\`${p.text}\` is not a limit; write a whole number from 1 to 999999`,
    scope_invalid: (p: { scope: string; accepted: string }) =>
      `\`${p.scope}\` is not a scope; the scopes are ${p.accepted}`,
  },
  invalid: {
    records_missing: (p: { dir: string; file: string }) =>
      `the database ${p.file} is missing or empty, but ${p.dir} holds .crate files; restore a backup into a new folder, or move ${p.dir}/public away and \`plimsoll import\` it into a new registry`,
    registry_newer: (p: { file: string; running: string; steps: string }) =>
      `${p.file} was written by a newer version of Plimsoll than this one, which is ${p.running} (it does not know ${p.steps}); run that version again, or restore a backup from before the upgrade into a new folder (docs/upgrade.md)`,
    database_unusable: (p: { reason: string }) =>
      `the database cannot be used: ${p.reason}; if it is damaged, \`plimsoll restore\` makes a new folder from a backup`,
    system_refuses: (p: { reason: string }) => `the operating system reports an error: ${p.reason}`,
    registry_empty: (p: { from: string; out: string }) =>
      `there is no .crate file in or below ${p.from}, so ${p.out} has no crates`,
    broken_file: (p: { path: string; message: string }) => `${p.path}: ${p.message}`,
    file_changed: (p: { path: string }) =>
      `${p.path} changed while it was read; run the command again`,
    twin_files: (p: { first: string; second: string; version: string }) =>
      `${p.first} and ${p.second} are both version ${p.version} with different bytes; keep the one that was published`,
    name_twins: (p: { first: string; second: string }) =>
      `\`${p.first}\` and \`${p.second}\` are the same name to a registry; keep only one spelling`,
    yanked_unknown: (p: { spec: string }) =>
      `\`yanked\` in plimsoll.toml names ${p.spec}, but no such .crate is among the files`,
    delete_needed: (p: { name: string; count: number; some: string }) =>
      `other crates depend on \`${p.name}\` (${p.count}: ${p.some}); yank it instead, or delete it with --force`,
    delete_unconfirmed: () => 'nothing was deleted; add --yes to delete for good',
    backup_exists: (p: { file: string }) =>
      `${p.file} already exists; choose another name for the backup`,
    backup_overtaken: (p: { name: string; version: string }) =>
      `\`${p.name}\` ${p.version} was deleted while the backup was made, and this happened on every attempt; try again later`,
    backup_foreign: (p: { file: string; entry: string }) =>
      `${p.file} is not a backup of a registry: it holds ${p.entry}, which does not belong in one`,
    backup_incomplete: (p: { file: string; part: string }) =>
      `${p.file} is an incomplete backup: ${p.part} is missing`,
    backup_unreadable: (p: { file: string; reason: string }) =>
      `${p.file} cannot be read as a backup: ${p.reason}`,
    restore_not_empty: (p: { dir: string }) =>
      `${p.dir} is not empty; restore into a new folder with --dir`,
    backup_damaged: (p: { file: string; entry: string }) =>
      `${p.file} is damaged: the bytes of ${p.entry} do not have the checksum in its name`,
  },
  full: {
    storage_full: (p: { reason: string }) =>
      `the disk of the registry is full: ${p.reason}; nothing was changed, try again when there is room`,
  },
  busy: {
    storage_readonly: (p: { reason: string }) =>
      `the registry cannot be written to: ${p.reason}; nothing was changed, try again when its file system is writable`,
  },
  failed: {
    page_failed: (p: { kind: string; of: string; reason: string }) =>
      `work of the kind \`${p.kind}\`${p.of === '' ? '' : ` for ${p.of}`} failed and will be tried again: ${p.reason}`,
  },
} as const satisfies MessageTable
