import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Cleanup } from './cleanup.ts'
import type { Run } from './command.ts'
import { type DaemonHere, plimsollHere, serveHere } from './program.ts'
import { publishRequest } from './release.ts'
import { scratch } from './scratch.ts'
import { until } from './until.ts'

/** A registry folder that a daemon serves while commands work on it. */
export interface ServedFolder {
  readonly dir: string
  readonly url: string
  /** The daemon's output so far. */
  readonly log: () => string
  /** Tells the daemon to stop. */
  readonly stop: () => void
  /** Runs a command beside the daemon. */
  run(args: readonly string[], stdin?: string): Promise<Run>
  /** Runs a command that must succeed, and returns its stdout. */
  ok(...args: readonly string[]): Promise<string>
}

/**
 * Makes a folder and serves it with these settings; both go with the test. Where the promise is
 * about two processes, `start` is `serve`.
 */
export async function servedFolder(
  t: TestContext,
  env: NodeJS.ProcessEnv = {},
  start: (...asked: [Cleanup, string, NodeJS.ProcessEnv]) => Promise<DaemonHere> = serveHere,
): Promise<ServedFolder> {
  const cleanup = new Cleanup(t)
  const dir = join(scratch(cleanup), 'registry')
  const settings = { PLIMSOLL_AUTH_PASSWORD_COST: '14', PLIMSOLL_GIT_INDEX: 'off', ...env }
  const run = (args: readonly string[], stdin = '') =>
    plimsollHere([...args, '--dir', dir], settings, { stdin })
  const ok = async (...args: readonly string[]) => {
    const ended = await run(args)
    assert.equal(ended.code, 0, `plimsoll ${args.join(' ')}\n${ended.stderr}`)
    return ended.stdout.trimEnd()
  }
  await ok('init')
  const daemon = await start(cleanup, dir, settings)
  return { ...daemon, dir, run, ok }
}

/** A publish whose `.crate` is too large to be collected in memory before it is written. */
export function largePublish(): Uint8Array {
  const files = { 'src/data.bin': randomBytes(200_000).toString('hex') }
  return publishRequest({ name: 'demo', version: '1.0.0', files })
}

/** Waits until the daemon of a registry folder receives the `.crate` of a large publish. */
export async function receiving(dir: string): Promise<void> {
  const incoming = join(dir, 'crates', 'incoming')
  await until(
    () => existsSync(incoming) && readdirSync(incoming).length > 0,
    'no .crate is being received',
  )
}

/** Asserts that each command ends with this code, says nothing on stdout, and this on stderr. */
export async function refuses(
  { run }: Pick<ServedFolder, 'run'>,
  rows: readonly (readonly [args: readonly string[], code: 1 | 2, said: string | RegExp])[],
): Promise<void> {
  for (const [args, code, message] of rows) {
    const ended = await run(args)
    const what = `plimsoll ${args.join(' ')}`
    assert.deepEqual([ended.code, ended.stdout], [code, ''], `${what}\n${ended.stderr}`)
    if (typeof message === 'string') assert.equal(ended.stderr, `error: ${message}\n`, what)
    else assert.match(ended.stderr, message, what)
  }
}
