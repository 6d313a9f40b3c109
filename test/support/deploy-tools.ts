import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
const TOOLS = process.env.PLIMSOLL_DEPLOY_TOOLS ?? join(cache, 'plimsoll', 'deploy')
const bins = [join(TOOLS, 'bin'), join(TOOLS, 'python', 'bin')]
const PATH = [...bins, process.env.PATH, '/usr/sbin'].join(delimiter)

/** Why a test is skipped: a program that is neither installed nor made by `test/deploy/tools.sh`. */
export function missing(name: string): string | false {
  return spawnSync(name, ['--help'], { env: { PATH } }).error === undefined
    ? false
    : `there is no ${name}`
}

interface Run {
  /** What it ends with; any other exit code is a failure. */
  readonly code?: number
  readonly input?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Runs a program, and returns what it printed. */
export function run(
  name: string,
  args: readonly string[],
  { code = 0, input = '', env: more }: Run = {},
): string {
  const env = { ...process.env, PATH, ...more }
  const { status, stdout, stderr } = spawnSync(name, args, { env, input, encoding: 'utf8' })
  assert.equal(status, code, `${name} ${args.join(' ')}\n${stdout}${stderr}`)
  return `${stdout}${stderr}`
}
