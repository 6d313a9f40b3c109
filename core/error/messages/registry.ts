import type { MessageTable } from '../kind.ts'

/** Errors of the catalog and the crate store. */
export const registryMessages = {
  forbidden: {
    not_owner:
      '`{login}` is not an owner of `{name}`; ask one of its owners for `cargo owner --add {login}`',
  },
  not_found: {
    crate_unknown: 'there is no crate `{name}` here',
    readme_unknown: '{name} {version} was packaged without a README',
    release_other_build:
      'there is no version {version} of `{name}` here, but {existing}, which differs only in build metadata; name that one',
    release_unknown: 'there is no version {version} of `{name}` here',
  },
  conflict: {
    version_taken: (p: { name: string; version: string; existing: string }) =>
      p.version === p.existing
        ? `\`${p.name}\` ${p.version} already exists; a published version never changes, publish a new one`
        : `\`${p.name}\` ${p.version} differs from the existing ${p.existing} only in build metadata, which does not make it another version`,
    name_taken:
      '`{name}` collides with the existing crate `{existing}`: names that differ only in case or in `-` and `_` are one name; publish it as `{existing}` or choose another name',
  },
  too_large: {
    crate_too_big:
      'the .crate is bigger than the {max} bytes allowed here; leave out what is not needed (`exclude` in Cargo.toml) or ask the operator to raise `limits.crate_bytes`',
  },
  invalid: {
    crate_lost:
      'the .crate of `{name}` {version} is missing from the crate store or damaged there; put it back from a backup of the registry folder and run `plimsoll build --all`',
    version_deleted:
      '`{name}` {version} was deleted; lock files may still name its checksum, so publish other bytes as another version',
  },
} as const satisfies MessageTable
