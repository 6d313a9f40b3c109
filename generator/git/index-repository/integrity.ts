import { join } from 'node:path'
import { Refusal } from '../../../core/error/error.ts'
import { readText } from '../../store/durable-file.ts'
import { readHead } from './bare-repository.ts'
import { runGit } from './git-process.ts'
import { listIfThere } from './repository-file.ts'

/** What is wrong between HEAD and its commit, in words; null when nothing is. Changes nothing. */
export async function headFault(path: string): Promise<string | null> {
  if ((await readText(join(path, 'HEAD'))) === null) return 'HEAD is missing'
  try {
    if ((await readHead(path)) !== null) return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.message
  }
  return (await hasObjects(path))
    ? 'HEAD leads to a branch without a commit, though there are commits'
    : null
}

/** What `git` finds wrong with the repository, HEAD's commit first; null when nothing is. */
export async function objectFault(path: string, command: string): Promise<string | null> {
  const git = { command, path }
  const head = await readHead(path)
  if (head === null) return null
  try {
    await runGit(git, ['cat-file', 'commit', head])
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `HEAD points at commit ${head}, which is missing or cannot be read`
  }
  try {
    await runGit(git, ['fsck', '--full', '--no-dangling', '--no-progress'])
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.message
  }
}

async function hasObjects(path: string): Promise<boolean> {
  const names = await listIfThere(join(path, 'objects'))
  const packs = await listIfThere(join(path, 'objects', 'pack'))
  return (
    names.some(name => /^[0-9a-f]{2}$/.test(name)) || packs.some(name => name.endsWith('.pack'))
  )
}
