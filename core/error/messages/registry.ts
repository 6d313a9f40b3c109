import type { MessageTable } from '../kind.ts'

/** What the catalog and the crate store object to. */
export const registryMessages = {
  forbidden: {
    not_owner: (p: { name: string; login: string }) =>
      `\`${p.login}\` is not an owner of \`${p.name}\`; ask one of its owners for \`cargo owner --add ${p.login}\``,
  },
  not_found: {
    crate_unknown: (p: { name: string }) => `there is no crate \`${p.name}\` here`,
    readme_unknown: (p: { name: string; version: string }) =>
      `${p.name} ${p.version} was packaged without a README`,
    release_other_build: (p: { name: string; version: string; existing: string }) =>
      `there is no version ${p.version} of \`${p.name}\` here, but ${p.existing}, which differs only in build metadata; name that one`,
    release_unknown: (p: { name: string; version: string }) =>
      `there is no version ${p.version} of \`${p.name}\` here`,
  },
  conflict: {
    version_taken: (p: { name: string; version: string; existing: string }) =>
      p.version === p.existing
        ? `\`${p.name}\` ${p.version} already exists; a published version never changes, publish a new one`
        : `\`${p.name}\` ${p.version} differs from the existing ${p.existing} only in build metadata, which does not make it another version`,
    name_taken: (p: { name: string; existing: string }) =>
      `\`${p.name}\` collides with the existing crate \`${p.existing}\`: names that differ only in case or in \`-\` and \`_\` are one name; publish it as \`${p.existing}\` or choose another name`,
  },
  too_large: {
    crate_too_big: (p: { max: number }) =>
      `the .crate is bigger than the ${p.max} bytes allowed here; leave out what is not needed (\`exclude\` in Cargo.toml) or ask the operator to raise \`limits.crate_bytes\``,
  },
  invalid: {
    crate_lost: (p: { name: string; version: string }) =>
      `the .crate of \`${p.name}\` ${p.version} is missing from the crate store or damaged there; put it back from a backup of the registry folder and run \`plimsoll build --all\``,
    version_deleted: (p: { name: string; version: string }) =>
      `\`${p.name}\` ${p.version} was deleted; lock files may still name its checksum, so publish other bytes as another version`,
  },
} as const satisfies MessageTable
