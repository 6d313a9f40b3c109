import type { MessageTable } from '../kind.ts'

/** The kinds of registries that can be taken over. */
const IMPORT_KINDS =
  "`tree` (a folder with an index and its .crate files, such as margo's or our own), `git` (an index as a git repository), `sparse` (sparse+https://…, with --names), `local-registry` (index/ and *.crate), `vendor` (of `cargo vendor`) and `crates` (a folder of .crate files)"

/** What an import objects to and notes. */
export const importMessages = {
  misuse: {
    import_source_unknown: (p: { source: string }) =>
      `${p.source} is not something that can be imported; the kinds are ${IMPORT_KINDS}`,
    import_source_ambiguous: (p: { source: string; kinds: string }) =>
      `${p.source} could be ${p.kinds}; say which with --as, or name the inner folder; the kinds are ${IMPORT_KINDS}`,
    import_source_inner: (p: { source: string; inner: string }) =>
      `${p.source} is not a source itself, but ${p.inner} in it is; name that folder`,
    import_own_folder: (p: { source: string }) =>
      `${p.source} is the folder of a Plimsoll registry; move it with \`plimsoll backup\` and \`plimsoll restore\`, or import its \`public\` folder`,
    import_cargo_cache: (p: { where: string; format: number }) =>
      `${p.where} has format ${p.format} of Cargo's index cache, and only format 3 can be read; run a current Cargo once, or import the registry itself`,
    import_names_needed: (p: { source: string }) =>
      `a sparse index does not list its crates; write the names of the crates of ${p.source} to a file, one per line, and pass it with --names`,
    import_names_useless: (p: { kind: string }) =>
      `--names is for a sparse URL; the source is ${p.kind}, which is imported completely`,
    import_no_dl: (p: { where: string }) =>
      `${p.where} has no \`config.json\` that says where the .crate files are (\`dl\`); name their folder or URL with --crates`,
    import_dl_foreign: (p: { dl: string }) =>
      `the \`dl\` of the source is \`${p.dl}\`, and only http and https are followed; name the folder or URL of the .crate files with --crates`,
    import_unpacked_only: (p: { source: string }) =>
      `${p.source} was made by \`cargo vendor\` and holds unpacked sources only; Cargo's download cache still has the .crate files, if it was not emptied: pass it with --crates, for example --crates ~/.cargo/registry/cache`,
    import_url_invalid: (p: { url: string }) =>
      `${p.url} is not a URL that can be read; write https://… or http://… without a user name and password (a token goes into PLIMSOLL_IMPORT_TOKEN)`,
  },
  invalid: {
    import_config_invalid: (p: { where: string; reason: string }) =>
      `${p.where} is not the \`config.json\` of an index: ${p.reason}`,
    import_vendor_git: () =>
      'it comes from a git repository and was never a .crate; package it with `cargo package` and add it with `plimsoll add`',
    import_vendor_checksum: (p: { reason: string }) =>
      `its .cargo-checksum.json cannot be read: ${p.reason}`,
    import_git_url: (p: { url: string; detail: string }) =>
      `the git index ${p.url} cannot be cloned: ${p.detail}; check the address and the credentials, and write sparse+${p.url} if it is a sparse index`,
    import_no_head: (p: { source: string }) => `${p.source} is a git repository without a commit`,
    import_git_missing: (p: { id: string }) =>
      `the git repository does not have ${p.id}, which its newest commit names; fetch it again in full`,
    import_http: (p: { url: string; reason: string }) => `${p.url} cannot be read: ${p.reason}`,
    import_http_denied: (p: { url: string; status: number }) =>
      `${p.url} answers ${p.status}; put a token for the source into PLIMSOLL_IMPORT_TOKEN, and if it is on another host than the index, name that host with --crates`,
    import_too_long: (p: { what: string; max: number }) =>
      `${p.what} has more than the ${p.max} bytes that are read`,
    import_name_unknown: (p: { name: string }) => `the source has no crate \`${p.name}\``,
    import_not_text: (p: { line: number }) => `line ${p.line}: it is not valid UTF-8`,
    import_misplaced: (p: { line: number; name: string }) =>
      `line ${p.line}: the entry is for \`${p.name}\`, whose index file is elsewhere; Cargo would never find it`,
    import_twice: (p: { version: string; first: string }) =>
      `version ${p.version} already exists (${p.first}); build metadata does not make it another version`,
    import_no_bytes: (p: { name: string; version: string; tried: string }) =>
      `there is no .crate of \`${p.name}\` ${p.version}: looked for ${p.tried}`,
    import_checksum: (p: { name: string; version: string; expected: string; found: string }) =>
      `the .crate of \`${p.name}\` ${p.version} has the checksum ${p.found}, but the source says ${p.expected}`,
    import_identity: (p: { expected: string; found: string }) =>
      `the index of the source calls it ${p.expected}, but the \`Cargo.toml\` in its .crate says ${p.found}`,
    import_archive: (p: { reason: string }) =>
      `its .crate would be refused today; it was imported because the old index lists these bytes: ${p.reason}`,
    import_manifest: (p: { reason: string }) =>
      `its \`Cargo.toml\` cannot be read, so the description and the README are empty: ${p.reason}`,
    import_oversized: (p: { size: number; max: number }) =>
      `its .crate has ${p.size} bytes, more than the ${p.max} allowed for new ones`,
    import_differs: (p: { differences: string }) =>
      `the index of the source and the \`Cargo.toml\` in the .crate differ (${p.differences}); the index was kept`,
    import_policy: (p: { reason: string }) => `a publish would be refused today: ${p.reason}`,
    import_yanked_there: (p: { name: string; version: string; there: boolean }) =>
      p.there
        ? `\`${p.name}\` ${p.version} was here already; it is yanked in the source and not here, \`plimsoll yank\` does that`
        : `\`${p.name}\` ${p.version} was here already; it is yanked here and not in the source`,
  },
} as const satisfies MessageTable
