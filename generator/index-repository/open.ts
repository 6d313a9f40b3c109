import { resolve } from 'node:path'
import { refuse } from '../error.ts'
import { ensureBare, updateServerInfo } from './bare.ts'
import { GitCommandRepository } from './git-command.ts'
import { gitVersion, isRecent } from './git-process.ts'
import { clearLeftovers, clearRefLocks } from './leftovers.ts'
import { NodegitRepository } from './nodegit.ts'
import { loadNodegit, type NodeGit } from './nodegit-module.ts'
import type { IndexRepository } from './repository.ts'

export interface IndexRepositoryOptions {
  /** The bare repository's folder; made when it is missing. */
  readonly path: string
  /** `auto` takes nodegit when it is installed and loads, else the git executable. */
  readonly engine?: 'auto' | 'nodegit' | 'git'
  readonly gitCommand?: string
}

/** Opens the index repository with the engine that is there. One process at a time may write to it. */
export async function openIndexRepository(options: IndexRepositoryOptions): Promise<IndexRepository> {
  const { engine = 'auto', gitCommand = 'git' } = options
  const path = resolve(options.path)
  const nodegit = engine === 'git' ? null : await tryNodegit(engine)
  const version = await gitVersion(gitCommand)
  const usable = version !== null && isRecent(version)
  if (!nodegit && version === null) refuse('git_engine_missing', { command: gitCommand })
  if (!nodegit && !usable) refuse('git_too_old', { command: gitCommand, version: version ?? '' })
  await ensureBare(path)
  await clearRefLocks(path)
  await clearLeftovers(path)
  await updateServerInfo(path)
  if (nodegit) return await NodegitRepository.open(nodegit, path, usable ? gitCommand : null)
  return new GitCommandRepository({ command: gitCommand, path })
}

async function tryNodegit(engine: 'auto' | 'nodegit'): Promise<NodeGit | null> {
  try {
    return await loadNodegit()
  } catch (error) {
    // Absent, or built for another Node: with `auto` the executable does the same job.
    if (engine === 'nodegit') refuse('git_nodegit_missing', { reason: (error as Error).message.split('\n')[0] ?? '' })
    return null
  }
}
