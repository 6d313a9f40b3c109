import type { MessageTable } from './kind.ts'

const IMPORT_KINDS =
  '`tree` (a folder with an index and its .crate files, such as that of margo or Plimsoll), `git` (an index as a git repository), `sparse` (sparse+https://…, with --names), `local-registry` (index/ and *.crate), `cargo-cache` (CARGO_HOME or its `registry` folder), `vendor` (of `cargo vendor`) and `crates` (a folder of .crate files)'

// biome-ignore format: a message is one line, which a search for its words shows with its code.
export const importMessages = {
  misuse: {
    import_source_unknown: `{source} cannot be imported; the kinds are ${IMPORT_KINDS}`,
    import_source_ambiguous: `{source} could be {kinds}; say which with --as, or name the inner folder; the kinds are ${IMPORT_KINDS}`,
    import_source_inner: '{source} is not a source itself, but {inner} in it is; name that folder',
    import_own_folder: '{source} is the folder of a Plimsoll registry; move it with `plimsoll backup` and `plimsoll restore`, or import its `public` folder',
    import_cargo_cache: "{where} has format {format} of Cargo's index cache, and only format 3 can be read; run a current Cargo once, or import the registry itself",
    import_names_needed: 'a sparse index does not list its crates; write the names of the crates of {source} to a file, one per line, and pass it with --names',
    import_names_useless: '--names is for a sparse URL; the source is {kind}, which is imported completely',
    import_no_dl: '{where} has no `config.json` that says where the .crate files are (`dl`); name their folder or URL with --crates',
    import_dl_foreign: 'the `dl` of the source is `{dl}`, and only http, https and file URLs of this machine are followed; name the folder or URL of the .crate files with --crates',
    import_unpacked_only: "{source} was made by `cargo vendor` and contains only unpacked sources; Cargo's download cache still has the .crate files, if it was not emptied: pass it with --crates, for example --crates ~/.cargo/registry/cache",
    import_url_invalid: '{url} is not a URL that can be read; write https://… or http://… without a user name and password (a token goes into PLIMSOLL_IMPORT_TOKEN)',
  },
  invalid: {
    import_config_invalid: '{where} is not the `config.json` of an index: {reason}',
    import_vendor_git: 'it comes from a git repository and was never a .crate; package it with `cargo package` and add it with `plimsoll add`',
    import_vendor_checksum: 'its .cargo-checksum.json cannot be read: {reason}',
    import_git_url: 'the git index {url} cannot be cloned: {detail}; check the address and the credentials, and write sparse+{url} if it is a sparse index',
    import_no_head: '{source} is a git repository without a commit',
    import_git_missing: 'the git repository does not have {id}, which its newest commit names; fetch it again in full',
    import_http: '{url} cannot be read: {reason}',
    import_http_denied: '{url} answers {status}; put a token for the source into PLIMSOLL_IMPORT_TOKEN, and if it is on another host than the index, name that host with --crates',
    import_address_private: '{url} has the private address {address}, and only hosts that the command names may have one; if the .crate files are there, name their URL with --crates',
    import_too_long: '{what} is larger than the limit of {max:size}',
    import_name_unknown: 'the source has no crate `{name}`',
    import_not_text: 'line {line}: it is not valid UTF-8',
    import_misplaced: 'line {line}: the entry is for `{name}`, whose index file is elsewhere; Cargo would never find it',
    import_twice: 'version {version} already exists ({first}); build metadata does not make it another version',
    import_no_bytes: 'there is no .crate of `{name}` {version}: looked for {tried}',
    import_checksum: 'the .crate of `{name}` {version} has the checksum {found}, but the source says {expected}',
    import_identity: 'the index of the source calls it {expected}, but the `Cargo.toml` in its .crate says {found}',
    import_archive: 'its .crate would be refused today; it was imported because the old index lists these bytes: {reason}',
    import_manifest: 'its `Cargo.toml` cannot be read, so the description and the README are empty: {reason}',
    import_oversized: 'its .crate has {size:size}, more than the {max:size} allowed for new ones',
    import_differs: 'the index of the source and the `Cargo.toml` in the .crate differ ({differences}); the index was kept',
    import_policy: 'a publish would be refused today: {reason}',
    import_deleted: '`{name}` {version} was deleted here; `plimsoll add` with its .crate brings it back',
    import_yanked_there: (p: { name: string; version: string; there: boolean }) =>
      p.there
        ? `\`${p.name}\` ${p.version} was here already; it is yanked in the source and not here, \`plimsoll yank\` does that`
        : `\`${p.name}\` ${p.version} was here already; it is yanked here and not in the source`,
  },
} as const satisfies MessageTable
