import { join } from 'node:path'
import { Refusal, refusalOnly } from '../../../core/error/error.ts'
import { readFolder, readText } from '../../places/disk/files.ts'
import { readHead } from './bare-repository.ts'
import { type GitAt, runGit } from './git-process.ts'

/** Returns the fault of HEAD or its commit, or null. Changes nothing. */
export async function headFault(path: string): Promise<string | null> {
  if ((await readText(join(path, 'HEAD'))) === null) return 'HEAD is missing'
  const head = await readHead(path).catch(refusalOnly)
  if (head instanceof Refusal) return head.message
  if (head !== null || !(await hasObjects(path))) return null
  return 'HEAD leads to a branch without a commit, though there are commits'
}

/** Returns the first fault that git finds in the repository, checking HEAD first; null for none. */
export async function objectFault(git: GitAt): Promise<string | null> {
  const head = await readHead(git.path)
  if (head === null) return null
  if (await failure(runGit(git, ['cat-file', 'commit', head])))
    return `HEAD points at commit ${head}, which is missing or cannot be read`
  return await failure(runGit(git, ['fsck', '--full', '--no-dangling', '--no-progress']))
}

async function failure(work: Promise<unknown>): Promise<string | null> {
  const result = await work.catch(refusalOnly)
  return result instanceof Refusal ? result.message : null
}

async function hasObjects(path: string): Promise<boolean> {
  const objects = await readFolder(join(path, 'objects'))
  const packs = await readFolder(join(path, 'objects', 'pack'))
  return (
    objects.some(({ name }) => /^[0-9a-f]{2}$/.test(name)) ||
    packs.some(({ name }) => name.endsWith('.pack'))
  )
}
