/**
 * Builds a folder of 3,000 `.crate` files again and again while folder, tree and cache change and
 * builds are killed. After each step the tree has to be one that is built from nothing, byte for
 * byte. `--changes N` is another number of files.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { StaticSequence } from '../support/static-sequence.ts'
import { chaos } from './run.ts'

const PROGRAM = fileURLToPath(new URL('simulate/static-build.js', import.meta.url))
/** A build is killed within this time. */
const KILL_MS = 4000

await chaos('static', { count: 40, minutes: 60, options: ['changes'] }, async run => {
  let kills = 0
  const kill: ConstructorParameters<typeof StaticSequence>[2] = async (job, settings) => {
    const { from, out, cache } = job
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify({ settings, from, out, cache })])
    const ended = once(child, 'exit')
    await Promise.race([ended, sleep(run.random.below(KILL_MS))])
    if (child.kill('SIGKILL')) kills++
    await ended
  }
  const sequence = new StaticSequence(run.random, join(run.folder, 'sequence'), kill)
  sequence.fill(Number(run.options.changes ?? 3000))
  await sequence.build('first')
  let steps = 0
  for (; steps < run.count && performance.now() < run.deadline; steps++)
    await sequence.build(`step ${steps + 1}: ${await sequence.change()}`)
  run.row('steps', steps)
  run.row('kills', kills)
  run.row('crates', sequence.size)
})
