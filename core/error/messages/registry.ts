import type { MessageTable } from './kind.ts'

// biome-ignore format: a message is one line, which a search for its words shows with its code.
export const registryMessages = {
  forbidden: {
    not_owner: '`{login}` is not an owner of `{name}`; ask one of its owners to run `cargo owner --add {login}`',
    not_owner_yet: '`{login}` is invited to own `{name}`, and is no owner yet; accept the invitation at /me, or ask for another one if it has expired',
    crate_ownerless: '`{login}` is not an owner of `{name}`: it has no owners; ask an administrator',
  },
  not_found: {
    crate_unknown: 'there is no crate `{name}` here',
    readme_unknown: 'there is no README of {name} {version} here',
    release_other_build: 'there is no version {version} of `{name}` here, but {existing}, which differs only in build metadata; name that one',
    release_deleted: (p: { name: string; version: string; reason: string | null }) => `\`${p.name}\` ${p.version} was deleted${p.reason === null ? '' : `: ${p.reason}`}; choose another version`,
    release_unknown: 'there is no version {version} of `{name}` here',
    route_unknown: 'there is nothing here',
    upstream_version_unknown: 'the upstream has no `{name}` {version} with the checksum of the lock file',
    upstream_requirement: 'the upstream has no version of `{name}` that fits {requirement} and is shown',
    upstream_crate_unknown: 'the upstream `{upstream}` has no `{spec}`',
    upstream_name_own: 'the name `{name}` is for crates of this registry, so the upstream is not asked for it',
    upstream_lacks: 'the upstream does not have the .crate of `{name}` {version}',
  },
  conflict: {
    version_taken: (p: { name: string; version: string; existing: string }) =>
      p.version === p.existing
        ? `\`${p.name}\` ${p.version} already exists; a published version never changes, publish a new one`
        : `\`${p.name}\` ${p.version} differs from the existing ${p.existing} only in build metadata, which does not make it another version`,
    name_taken: '`{name}` collides with the existing crate `{existing}`: names that differ only in case or in `-` and `_` are one name; publish it as `{existing}` or choose another name',
  },
  too_large: {
    crate_too_big: 'the .crate is bigger than the {max:size} allowed here; leave out what is not needed (`exclude` in Cargo.toml) or ask the operator to raise `limits.crate_bytes`',
    metadata_too_big: 'the publish metadata with the README has {size:size}; at most {max:size} are allowed (`limits.metadata_bytes`), shorten the README',
  },
  unauthorized: {
    token_absent: 'this needs a token; {me} says how to get one, then run `cargo login`',
    token_rejected: 'this token is not valid: it is unknown or revoked; {me} says how to get a new one',
    token_expired: 'this token expired on {at:date}; {me} says how to get a new one',
    login_due: 'this token is good, but its account has to show that it is still one of the company: log in once at {me}, then try again',
    account_locked: 'this token is good, but the account is locked; ask an administrator to unlock it',
    scope_missing: 'this token may not do that: it lacks the scope `{scope}`',
    crate_not_covered: 'this token does not cover the crate `{name}`',
    upstream_denied: '`{name}` {version} is denied here by `upstream.{upstream}.{rule}`; ask the operator of this registry',
    api_off: 'this registry takes no changes over the web (`registry.api` is "none"); its operator publishes with `plimsoll add` and yanks with `plimsoll yank`',
  },
  incomplete: {
    body_lost: 'the connection broke before the whole request had arrived; send it again',
  },
  timeout: {
    body_slow: 'the request was incomplete after {seconds} seconds; send it again over a faster connection, or ask the operator to raise `limits.request_seconds`',
  },
  busy: {
    downloads_busy: 'too many clients are reading from the object storage right now; try again in a few seconds',
    upstream_busy: 'too many of your requests wait for the upstream right now; try again in a few seconds',
    upstream_away: 'the upstream does not answer for `{name}`, of which nothing is kept here; try again in a few seconds',
    upstream_status: 'the upstream answers for `{name}`, of which nothing is kept here, with the status {status}; if that stays so, the operator has to find out why',
    upstream_unusable: 'the upstream answers for `{name}`, of which nothing is kept here, but with what cannot be used; the operator finds the reason in the log',
    upstream_slow: '`{name}` {version} is still being fetched from the upstream; try again in a few seconds',
    upstream_bytes: 'the upstream sends other bytes for `{name}` {version} than its index says (SHA-256 {got} instead of {cksum}); they were not kept',
    upstream_crate: 'the upstream sends a .crate of `{name}` {version} that no Cargo can use ({reason}); it was not kept',
    search_unready: 'the files that searches read are being written; try again in a minute',
    sandbox_busy: 'too many crate files are waiting to be checked; try again in a minute',
  },
  failed: {
    unexpected: 'something unexpected went wrong; the operator finds the cause in the log under {id}',
  },
  invalid: {
    text_nul: 'a text of this request contains the character U+0000, which no registry can store; remove it',
    crate_lost: 'the .crate of `{name}` {version} is missing from the crate store or damaged there; put it back with `plimsoll add FILE`, or from a backup of the registry folder and run `plimsoll build --all`',
    version_deleted: (p: { name: string; version: string; reason: string | null }) => `\`${p.name}\` ${p.version} was deleted${p.reason === null ? '' : `: ${p.reason}`}; lock files may still name its checksum, so publish other bytes as another version`,
    metadata_invalid: 'the publish metadata cannot be read: {reason}',
    body_short: 'the publish request ends inside the {part}, for which {announced:size} were announced',
    body_long: 'the publish request continues after the {announced:size} announced for the .crate',
    release_present: '`{name}` {version} was published before with the same bytes; nothing has changed',
    name_upstream: 'the upstream `{upstream}` has a crate `{name}`, too, and versions of it are kept here; from now on all who use this registry for both get yours in its place, and its operator is told',
    release_restored: '`{name}` {version} was published before; the missing bytes were put back',
    index_late: 'the index of `{name}` could not be written yet; the daemon keeps trying',
  },
} as const satisfies MessageTable
