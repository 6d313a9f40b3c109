import type { Output } from '../../core/output.ts'
import { GIT_INDEX_FOLDER, INDEX_FOLDER, pathInGit } from '../../core/paths/index-files.ts'
import { BRANCH } from './index-repository/bare-repository.ts'
import { type Folder, folderOf, REGISTRY } from './index-repository/engine.ts'
import { PackWriter } from './pack.ts'

/** Marks a repository made here: a later build may rewrite it. */
export const STATIC_CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[plimsoll]
\tstatic = true
`

/**
 * The index files among `outputs` as a bare git repository for plain file servers
 * (gitrepository-layout): one commit without history and date, so that equal files make equal
 * bytes. Needs no git.
 */
export function renderGitIndex(outputs: readonly Output[]): Output[] {
  const writer = new PackWriter()
  const files = outputs
    .filter(({ path }) => path.startsWith(`${INDEX_FOLDER}/`))
    .map(({ path, bytes }) => [pathInGit(path), writer.add('blob', bytes)] as const)
  const person = `${REGISTRY.name} <${REGISTRY.email}> 0 +0000`
  const text = `tree ${addTree(writer, folderOf(files))}\nauthor ${person}\ncommitter ${person}\n\nplimsoll build --from\n`
  const commit = writer.add('commit', Buffer.from(text))
  const { name, pack, index } = writer.finish()
  // References come after what they refer to: readers of a tree being written miss nothing.
  return [
    repositoryFile(`objects/pack/pack-${name}.pack`, pack),
    repositoryFile(`objects/pack/pack-${name}.idx`, index),
    repositoryFile('objects/info/packs', Buffer.from(`P pack-${name}.pack\n\n`)),
    repositoryFile(BRANCH, Buffer.from(`${commit}\n`)),
    repositoryFile('info/refs', Buffer.from(`${commit}\t${BRANCH}\n`)),
    repositoryFile('config', Buffer.from(STATIC_CONFIG)),
    repositoryFile('HEAD', Buffer.from(`ref: ${BRANCH}\n`)),
  ]
}

function repositoryFile(path: string, bytes: Buffer): Output {
  const cache = path.startsWith('objects/pack/') ? 'immutable' : 'revalidate'
  return {
    path: `${GIT_INDEX_FOLDER}/${path}`,
    bytes,
    contentType: 'application/octet-stream',
    cache,
  }
}

function addTree(writer: PackWriter, { folders, files }: Folder<string>): string {
  const entries = [...files].map(([name, id]) => ({ name, key: name, mode: '100644', id }))
  // Git sorts a folder as if its name ended with a slash.
  for (const [name, inner] of folders)
    entries.push({ name, key: `${name}/`, mode: '40000', id: addTree(writer, inner) })
  entries.sort((a, b) => (a.key < b.key ? -1 : 1))
  const bytes = entries.flatMap(({ name, mode, id }) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(id, 'hex'),
  ])
  return writer.add('tree', Buffer.concat(bytes))
}
