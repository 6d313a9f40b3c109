import { resolve } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { ensureBare, updateServerInfo } from './bare-repository.ts'
import { GitCommandRepository } from './git-command.ts'
import { gitVersion, isRecent } from './git-process.ts'
import { NodegitRepository } from './nodegit.ts'
import { loadNodegit, type NodeGit } from './nodegit-module.ts'
import type { IndexRepository } from './repository.ts'
import { removeStaleFiles, removeStaleLocks } from './stale-files.ts'

export interface IndexRepositoryOptions {
  /** The bare repository's folder; made when it is missing. */
  readonly path: string
  /** `auto` takes nodegit when it is installed and loads, else the git executable. */
  readonly engine?: 'auto' | 'nodegit' | 'git'
  readonly gitCommand?: string
}

/** What can write the repository: the library, the executable if recent enough, or both. */
export interface Engine {
  readonly name: 'nodegit' | 'git'
  readonly nodegit: NodeGit | null
  readonly command: string | null
}

/** The engine that is there and wanted; refuses when there is none. */
export async function findEngine(options: Omit<IndexRepositoryOptions, 'path'>): Promise<Engine> {
  const { engine = 'auto', gitCommand = 'git' } = options
  const nodegit = engine === 'git' ? null : await tryNodegit(engine)
  const version = await gitVersion(gitCommand)
  const usable = version !== null && isRecent(version)
  if (!nodegit && version === null) refuse('git_engine_missing', { command: gitCommand })
  if (!nodegit && !usable) refuse('git_too_old', { command: gitCommand, version: version ?? '' })
  return { name: nodegit ? 'nodegit' : 'git', nodegit, command: usable ? gitCommand : null }
}

/** Opens the index repository with the available engine. Only one process may write to it. */
export async function openIndexRepository(
  options: IndexRepositoryOptions,
): Promise<IndexRepository> {
  const path = resolve(options.path)
  const { nodegit, command } = await findEngine(options)
  await ensureBare(path)
  await removeStaleLocks(path)
  await removeStaleFiles(path)
  await updateServerInfo(path)
  if (nodegit) return await NodegitRepository.open(nodegit, path, command)
  return new GitCommandRepository({ command: command ?? 'git', path })
}

async function tryNodegit(engine: 'auto' | 'nodegit'): Promise<NodeGit | null> {
  try {
    return await loadNodegit()
  } catch (error) {
    // Absent, or built for another Node: with `auto` the executable does the same job.
    if (engine === 'nodegit')
      refuse('git_nodegit_missing', { reason: (error as Error).message.split('\n')[0] ?? '' })
    return null
  }
}
