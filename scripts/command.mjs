// Commands of other programs that a release runs.
import { spawnSync } from 'node:child_process'

/** Runs a program to its end and returns what it printed; ends this process if it fails. */
export function run(command, args, cwd, { input, env } = {}) {
  const stdio = [input ? 'pipe' : 'ignore', 'pipe', 'inherit']
  const options = { cwd, input, stdio, maxBuffer: 2 ** 30, env: { ...process.env, ...env } }
  const ended = spawnSync(command, args, options)
  if (ended.status === 0) return ended.stdout
  fail(`${command} ${args.join(' ')} failed: ${ended.error?.message ?? ended.status}`)
}

/** Says why there is no release, and ends this process. */
export function fail(why) {
  console.error(`error: ${why}`)
  process.exit(1)
}
