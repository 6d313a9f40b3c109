import type { Random } from '../../support/random.ts'

/** Faults of one machine. */
export const MACHINE_FAULTS = [
  'kill',
  'stop',
  'database refused',
  'database stalled',
  'database gone',
  'bucket refused',
  'bucket stalled',
] as const

/** Faults of shared servers. */
export const COMMON_FAULTS = ['postgres killed', 's3 503', 's3 412', 's3 lost'] as const

/** A fault, when it begins after the beginning of its episode, and how long it lasts, in ms. */
export interface Fault {
  readonly kind: (typeof MACHINE_FAULTS)[number] | (typeof COMMON_FAULTS)[number]
  /** The number of the machine; null for shared servers. */
  readonly machine: number | null
  readonly at: number
  readonly lasts: number
}

/** The longest that each kind lasts, in milliseconds. */
const LONGEST: Readonly<Record<Fault['kind'], number>> = {
  kill: 12_000,
  stop: 20_000,
  'database refused': 10_000,
  'database stalled': 15_000,
  'database gone': 10_000,
  'bucket refused': 10_000,
  'bucket stalled': 10_000,
  'postgres killed': 4000,
  's3 503': 8000,
  's3 412': 8000,
  's3 lost': 8000,
}

/** In how many milliseconds the faults of an episode begin. */
const SPREAD_MS = 4000

/** Draws the faults of an episode: often one, at most three, each place once. */
export function drawEpisode(random: Random, machines: number): Fault[] {
  const faults = new Map<string, Fault>()
  const count = random.pick([1, 1, 2, 2, 3])
  while (faults.size < count) {
    const isCommon = random.chance(0.3)
    const kind = random.pick<Fault['kind']>(isCommon ? COMMON_FAULTS : MACHINE_FAULTS)
    const machine = isCommon ? null : random.below(machines)
    const at = faults.size === 0 ? 0 : random.below(SPREAD_MS)
    const place = `${machine} ${/^(?:kill|stop)$/.test(kind) ? 'process' : kind.split(' ')[0]}`
    faults.set(place, { kind, machine, at, lasts: random.between(200, LONGEST[kind]) })
  }
  return [...faults.values()]
}
