import type { MessageTable } from './kind.ts'

export const advisoryMessages = {
  invalid: {
    advisory_invalid: 'this is no advisory of RustSec or OSV: {reason}; mend or remove the file',
    advisory_id:
      'the id {id} is none of the form NAME-YYYY-NNNN, which files in `advisories/` have; rename it',
    advisory_twice: 'another file has the id {id}, too; remove one of them',
    advisories_none:
      '{from} has no list of advisories (`advisories/index.json`), or one that cannot be read; ask a registry that keeps some',
    advisories_many:
      '{source} has more than {max} files that may be advisories, or too many bytes of them; give fewer',
    advisories_archive:
      '{path} is neither a folder nor a .json or .md file, and cannot be read as a .tar.gz: {reason}; unpack it, and give the folder',
    dependency_advisory: (p: {
      id: string
      name: string
      req: string
      word: string
      title: string
    }) =>
      `${p.id} (${p.word}) covers the newest version of the dependency \`${p.name}\` that fits \`${p.req}\`: ${p.title}`,
  },
} as const satisfies MessageTable
