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

await chaos('static', { count: 40, minutes: 60, options: ['changes'] }, async run => {
  let kills = 0
  const sequence = new StaticSequence(run.random, join(run.folder, 'sequence'))
  sequence.fill(Number(run.options.changes ?? 3000))
  await sequence.build('first')
  // In milliseconds: how long the last build took that was not killed.
  let within = 4000
  const kill = async () => {
    const { from, out, cache } = sequence.job()
    const job = JSON.stringify({ settings: sequence.settings, from, out, cache })
    const begin = performance.now()
    const child = spawn(process.execPath, [PROGRAM, job], { stdio: 'inherit' })
    const ended = once(child, 'exit')
    await Promise.race([ended, sleep(run.random.below(within))])
    if (child.kill('SIGKILL')) kills++
    else within = performance.now() - begin
    await ended
  }
  let steps = 0
  for (; steps < run.count && performance.now() < run.deadline; steps++) {
    const changes = await sequence.change()
    const isKilled = run.random.chance(0.6)
    if (isKilled) await kill()
    await sequence.build(`step ${steps + 1}: ${changes}${isKilled ? ', kill' : ''}`)
  }
  run.row('steps', steps)
  run.row('kills', kills)
  run.row('crates', sequence.size)
})
