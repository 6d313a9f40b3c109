import type { MessageTable } from './kind.ts'

// biome-ignore format: a message is one line, which a search for its words shows with its code.
export const advisoryMessages = {
  invalid: {
    advisory_invalid: 'this is no advisory of RustSec or OSV: {reason}; mend or remove the file',
    advisory_id: 'the id {id} is none of the form NAME-YYYY-NNNN, which files in `advisories/` have; rename it',
    advisory_twice: 'another file has the id {id}, too; remove one of them',
    advisories_none: '{from} has no list of advisories (`advisories/index.json`), or one that cannot be read; ask a registry that keeps some',
    advisories_many: '{source} has more than {max} files that may be advisories, or too many bytes of them; give fewer',
    advisories_empty: '{path} has no file that can be read as an advisory (.json or .md), so what was taken before stays; check the path or the download',
    advisories_archive: '{path} is neither a folder nor a .json or .md file, and cannot be read as a .tar.gz: {reason}; unpack it, and give the folder',
    dependency_advisory: '{id} ({word}) covers the newest version of the dependency `{name}` that fits `{req}`: {title}',
  },
} as const satisfies MessageTable
