/** Runs `work` and says how long it took. */
export async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begin = performance.now()
  const result = await work()
  console.log(`  ${what}: ${format(performance.now() - begin)}`)
  return result
}

/** The value below which `part` of all lie. */
export function quantile(times: readonly number[], part: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN
}

/** A duration in milliseconds, as people read it. */
export function format(milliseconds: number): string {
  return milliseconds < 1000
    ? `${milliseconds.toFixed(1)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`
}
