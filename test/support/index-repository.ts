import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { promisify } from 'node:util'
import { Refusal } from '../../core/error/error.ts'
import type { CommitInfo, IndexChange } from '../../generator/git/index-repository/engine.ts'
import { loadNodegit } from '../../generator/git/index-repository/nodegit.ts'
import type { IndexRepository } from '../../generator/git/index-repository/repository.ts'
import { until } from './until.ts'

export const run = promisify(execFile)

/** A folder that goes when the file's tests are done. */
export const root = mkdtempSync(join(tmpdir(), 'plimsoll-git-'))
after(() => rmSync(root, { recursive: true, force: true }))

let serial = 0
/** A path in it that is not there yet. */
export const fresh = (): string => join(root, `${serial++}`)

/** Git's own view of a repository. */
export const git = async (path: string, ...args: string[]): Promise<string> =>
  (await run('git', ['--git-dir', path, ...args], { maxBuffer: 1 << 26 })).stdout.trim()

export const put = (path: string, text = `{"name":"${path}"}\n`): IndexChange => ({
  path,
  bytes: Buffer.from(text),
})

export const info = (message = 'Publish cargo 1.0.0 (by admin)\n'): CommitInfo => ({
  message,
  time: new Date('2026-11-20T12:00:00.750Z'),
})

export const refusal = (code: string) => (error: unknown) =>
  error instanceof Refusal && error.issues.some(issue => issue.code === code)

export async function paths(repository: IndexRepository): Promise<string[]> {
  const paths: string[] = []
  for await (const { path } of repository.list()) paths.push(path)
  return paths
}

/** Whether the optional engine can be tested here. */
export const nodegit = await loadNodegit().then(
  () => true,
  () => false,
)

export const engines = nodegit ? (['git', 'nodegit'] as const) : (['git'] as const)

/** Ends the `git fast-import` processes of this one, as a signal to all processes does. */
export async function endImporters(): Promise<void> {
  const children = () =>
    readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean)
  for (const pid of children()) {
    if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fast-import')) continue
    process.kill(Number(pid), 'SIGTERM')
    await until(() => !children().includes(pid), 'git has not ended')
  }
}
