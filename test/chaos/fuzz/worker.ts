import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { Random } from '../../support/random.ts'
import { CASE_MS, type Job, type Report } from './job.ts'
import { mutate } from './mutate.ts'
import { outcome, TARGETS } from './targets.ts'

const job = workerData as Job
const numbers = new Int32Array(job.current, 0, 2)
const bytes = new Uint8Array(job.current, 8)
let total = 0

const only = job.only?.split(',')
const chosen = Object.entries(TARGETS).filter(([name]) => only?.includes(name) ?? true)
for (const [at, [name, target]] of chosen.entries()) {
  // In a short run, each has its part of the time that is left.
  const end = Date.now() + (job.deadline - Date.now()) / (chosen.length - at)
  const told = await fuzz(name, target.seeds, Math.ceil((job.count * target.share) / 1000), end)
  parentPort?.postMessage(told)
  if (told.failure) break
}

async function fuzz(
  name: string,
  seeds: readonly (string | Uint8Array)[],
  count: number,
  end: number,
): Promise<Report> {
  const random = new Random(job.seed ^ hash(name))
  const kept = readKept(name)
  const corpus = [...seeds.map(seed => Buffer.from(seed)), ...kept]
  const seen = new Set<string>()
  const fresh: string[] = []
  let slowest = 0
  let cases = 0
  for (; cases < count && Date.now() < end; cases++) {
    // First, the inputs of the corpus, unchanged.
    const stored = cases < seeds.length + kept.length ? corpus[cases] : undefined
    const input = stored ?? mutate(random.pick(corpus), random.pick(corpus), random)
    const { what, took, why } = await oneCase(name, input)
    slowest = Math.max(slowest, took)
    if (why !== null)
      return {
        target: name,
        cases,
        slowest,
        fresh,
        failure: { why, input: input.toString('base64') },
      }
    if (seen.has(what)) continue
    seen.add(what)
    if (stored) continue
    corpus.push(input)
    fresh.push(input.toString('base64'))
  }
  return { target: name, cases, slowest, fresh, failure: null }
}

async function oneCase(name: string, input: Buffer) {
  bytes.set(input.subarray(0, bytes.length))
  Atomics.store(numbers, 1, input.length)
  Atomics.store(numbers, 0, ++total)
  const target = TARGETS[name]
  if (!target) throw new Error(`no target ${name}`)
  const budget = target.budget ?? CASE_MS
  let [what, took] = ['', Number.POSITIVE_INFINITY]
  try {
    // Another program may have had the processor: the fastest of three counts.
    for (let attempt = 0; attempt < 3 && took > budget; attempt++) {
      const began = performance.now()
      what = await outcome(target, input)
      took = Math.min(took, performance.now() - began)
    }
  } catch (error) {
    return { what, took: 0, why: String((error as Error).stack) }
  }
  return { what, took, why: took > budget ? `a case takes ${took.toFixed(0)} ms` : null }
}

function readKept(name: string): Buffer[] {
  try {
    const texts = JSON.parse(readFileSync(`${job.corpus}/${name}.json`, 'utf8')) as string[]
    return texts.map(text => Buffer.from(text, 'base64'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function hash(text: string): number {
  let sum = 0
  for (const letter of text) sum = (Math.imul(sum, 31) + (letter.codePointAt(0) ?? 0)) | 0
  return sum
}
