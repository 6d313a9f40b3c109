import { execFileSync } from 'node:child_process'

/** What git prints of a bare repository, without the last line end. */
export function git(repository: string, ...args: readonly string[]): string {
  return execFileSync('git', ['--git-dir', repository, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}
