import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Random } from '../support/random.ts'

/** A broken promise. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

/** Fails the run unless something holds. */
export function ensure(holds: unknown, otherwise: string): asserts holds {
  if (!holds) throw new Violation(otherwise)
}

/** The context of a program of chaos. */
export interface Run {
  readonly seed: number
  readonly random: Random
  /** Number of its kills, power cuts or cases. */
  readonly count: number
  /** When it should end, as `performance.now()` counts. */
  readonly deadline: number
  /** A temporary folder. */
  readonly folder: string
  /** Other options of the command line, `--name value`. */
  readonly options: Readonly<Record<string, string | undefined>>
  /** A row of the table that is printed at the end. */
  row(name: string, value: string | number): void
  /** Called at the end, the latest first. */
  onEnd(step: () => Promise<unknown> | unknown): void
}

/** Options of a program that its command line may override. */
export interface Defaults {
  readonly count: number
  readonly minutes: number
  /** The parent of its folder; by default, the folder of temporary files. */
  readonly parent?: string
  readonly options?: readonly string[]
}

/**
 * Runs a program of chaos: prints the seed, does the work, prints the table; on a violation prints
 * the broken promise with the seed, and exits with 1.
 */
export async function chaos(
  name: string,
  defaults: Defaults,
  work: (run: Run) => Promise<void>,
): Promise<void> {
  const names = ['seed', 'minutes', 'count', ...(defaults.options ?? [])]
  const { values } = parseArgs({
    options: Object.fromEntries(names.map(name => [name, { type: 'string' as const }])),
    // `npm run chaos` gives every program the same command line.
    strict: false,
  })
  const options = values as Record<string, string | undefined>
  const seed = Number(options.seed ?? Math.floor(Math.random() * 2 ** 31))
  const count = Number(options.count ?? defaults.count)
  const minutes = Number(options.minutes ?? defaults.minutes)
  console.log(`seed ${seed}: npm run chaos ${name} -- --seed ${seed} --count ${count}`)
  const rows: [string, string | number][] = []
  const steps: (() => Promise<unknown> | unknown)[] = []
  const folder = mkdtempSync(join(defaults.parent ?? tmpdir(), `plimsoll-chaos-${name}-`))
  steps.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const began = performance.now()
  let failure: unknown = null
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => reject(new Error(`ended by ${signal}`)))
  })
  interrupted.catch(() => {})
  try {
    const working = work({
      seed,
      count,
      options,
      folder,
      random: new Random(seed),
      deadline: began + minutes * 60_000,
      row: (row, value) => rows.push([row, value]),
      onEnd: step => steps.push(step),
    })
    await Promise.race([working, interrupted])
  } catch (error) {
    failure = error
  }
  for (const step of steps.reverse()) await step()
  rows.push(['wall time', `${((performance.now() - began) / 1000).toFixed(0)} s`])
  rows.push(['machine', `${availableParallelism()} cores, Node ${process.versions.node}`])
  rows.push(['date', new Date().toISOString().slice(0, 10)])
  printTable([['what', `chaos ${name}, seed ${seed}`], ...rows])
  if (failure === null) process.exit(0)
  console.error(`\nVIOLATED with seed ${seed}:`)
  console.error(failure instanceof Violation ? failure.message : failure)
  process.exit(1)
}

function printTable(rows: readonly (readonly [string, string | number])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length))
  const [head, ...rest] = rows.map(([name, value]) => `| ${name.padEnd(width)} | ${value} |`)
  console.log(`\n${[head, `|${'-'.repeat(width + 2)}|---|`, ...rest].join('\n')}`)
}
