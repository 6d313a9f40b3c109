/**
 * Gives millions of hostile inputs to all code that reads strangers' data: mutations of a kept
 * corpus, steered by new outcomes. The code must refuse each or accept it with its promised
 * properties, within a time and a memory; `--keep yes` adds inputs with new outcomes to the corpus.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { root } from '../support/plimsoll.ts'
import { CASE_MS, type Job, type Report } from './fuzz/job.ts'
import { INPUT_MAX } from './fuzz/mutate.ts'
import { chaos, type Run, Violation } from './run.ts'

/** Memory of a worker, for all cases together, in MiB. */
const MEMORY_MIB = 512
/** A case that does not end is given up after this many milliseconds. */
const HANG_MS = 60_000
/** Inputs of the corpus of one target. */
const KEPT_MAX = 200
const CORPUS = join(root, 'test', 'chaos', 'fuzz', 'corpus')

await chaos('fuzz', { count: 200_000, minutes: 30, options: ['keep', 'only'] }, async run => {
  const current = new SharedArrayBuffer(8 + INPUT_MAX)
  let cases = 0
  await new Promise<void>((resolve, reject) => {
    const worker = new Worker(new URL('fuzz/worker.js', import.meta.url), {
      workerData: {
        seed: run.seed,
        count: run.count,
        deadline: Date.now() + run.deadline - performance.now(),
        corpus: CORPUS,
        only: run.options.only ?? null,
        current,
      } satisfies Job,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
    })
    const watch = watchdog(current, reject)
    run.onEnd(() => {
      clearInterval(watch)
      return worker.terminate()
    })
    worker.on('message', (told: Report) => {
      cases += told.cases
      const { target, slowest, fresh } = told
      run.row(
        target,
        `${told.cases} cases, the slowest ${slowest.toFixed(0)} ms, ${fresh.length} new`,
      )
      console.log(`  ${target}: ${told.cases} cases`)
      if (told.failure) reject(failure(run, told.target, told.failure))
      else if (run.options.keep === 'yes') keep(target, fresh)
    })
    worker.on('error', error => {
      const input = Buffer.from(currentInput(current)).toString('base64')
      reject(new Violation(`${error.stack}\ninput in base64: ${input.slice(0, 4000)}`))
    })
    worker.on('exit', () => resolve())
  })
  run.row('cases', cases)
  run.row(
    'budget of a case',
    `${CASE_MS} ms, 5 s for what the program runs in a sandbox; ${MEMORY_MIB} MiB`,
  )
})

/** Fails when the same case is at work for too long. */
function watchdog(current: SharedArrayBuffer, fail: (error: Violation) => void): NodeJS.Timeout {
  const numbers = new Int32Array(current, 0, 2)
  let [last, since] = [-1, performance.now()]
  return setInterval(() => {
    const now = Atomics.load(numbers, 0)
    if (now !== last) [last, since] = [now, performance.now()]
    else if (performance.now() - since > HANG_MS) {
      const input = Buffer.from(currentInput(current)).toString('base64')
      fail(new Violation(`a case does not end; input in base64: ${input.slice(0, 4000)}`))
    }
  }, 500)
}

function currentInput(current: SharedArrayBuffer): Uint8Array {
  const length = Atomics.load(new Int32Array(current, 0, 2), 1)
  return new Uint8Array(current.slice(8, 8 + length))
}

/** Keeps the input in a file beside the checkout's own corpus. */
function failure(
  run: Run,
  target: string,
  { why, input }: NonNullable<Report['failure']>,
): Violation {
  const file = join(run.folder, '..', `plimsoll-fuzz-${target}-${run.seed}`)
  writeFileSync(file, Buffer.from(input, 'base64'))
  const shown = JSON.stringify(Buffer.from(input, 'base64').toString('latin1').slice(0, 500))
  return new Violation(`${target}: ${why}\ninput, whole in ${file}: ${shown}`)
}

/** Adds small inputs to the kept corpus. */
function keep(target: string, fresh: readonly string[]): void {
  const path = join(CORPUS, `${target}.json`)
  const kept = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as string[]) : []
  const all = [...new Set([...kept, ...fresh.filter(input => input.length < 4000)])]
  writeFileSync(path, `${JSON.stringify(all.slice(0, KEPT_MAX), null, 1)}\n`)
}
