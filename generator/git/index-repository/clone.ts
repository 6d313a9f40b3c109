import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { refuse } from '../../../core/error/error.ts'
import { plain } from '../../web/web-url.ts'
import { ALLOC_LIMIT, checkRemote, complaintOf, gitFolder, requireOwnFiles } from './git-process.ts'

/**
 * Clones a remote repository into a folder of its own, `index.git` in it, without a work tree, and
 * only the newest commit if the server supports that. Refuses what cannot be cloned.
 */
export async function cloneBare(url: string): Promise<string> {
  if (/^file:/i.test(url)) await requireOwnFiles(gitFolder(pathOf(url)))
  const path = await mkdtemp(join(tmpdir(), 'plimsoll-import-'))
  try {
    const shallow = await clone(url, join(path, 'index.git'), ['--depth', '1'])
    // A plain file server cannot serve a part of the history.
    const failure = shallow === null ? null : await clone(url, join(path, 'index.git'), [])
    if (failure !== null) refuse('import_git_url', { url: plain(url), detail: plain(failure) })
    return join(path, 'index.git')
  } catch (error) {
    await rm(path, { recursive: true, force: true })
    throw error
  }
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch (error) {
    return refuse('import_git_url', { url: plain(url), detail: String(error) })
  }
}

/** Returns git's error message; null on success. Uses the user's configuration for credentials. */
async function clone(
  url: string,
  path: string,
  options: readonly string[],
): Promise<string | null> {
  await rm(path, { recursive: true, force: true })
  const bare = ['clone', '--quiet', '--bare', '--single-branch', '--no-tags']
  // Only ordinary protocols: others, such as `ext::`, would run commands.
  const env = {
    ...process.env,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'http:https:ssh:git:file',
    LC_ALL: 'C',
    ...ALLOC_LIMIT,
  }
  const args = [...bare, ...options, '--', checkRemote(url), path]
  return await complaintOf(spawn('git', args, { stdio: ['ignore', 'ignore', 'pipe'], env }))
}
