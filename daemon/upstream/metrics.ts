import { Counter, Gauge, type Registry as Prometheus } from 'prom-client'
import type { UpstreamCounts } from '../../generator/upstream/counts.ts'
import type { Upstreams } from '../../generator/upstream/open.ts'

type Sample = readonly [labels: Record<string, string>, n: number | null]

const COUNTED = [
  ['hits', 'Files that were here when somebody asked for them'],
  ['misses', 'Files that the upstream was asked for'],
  ['bytes', 'Bytes of `.crate` files that came from the upstream'],
  ['errors', 'Requests that the upstream did not answer as it should'],
  ['stale', 'Answers older than `fresh`, because the upstream is away'],
] as const

/** Adds the metrics of upstreams, if there are any; those with one index share what is counted. */
export function upstreamMetrics(
  { byName, sources }: Pick<Upstreams, 'byName' | 'sources'>,
  prometheus: Prometheus,
  now: () => Date,
): void {
  if (sources.length === 0) return
  const options = (name: string, help: string, read: () => readonly Sample[]) => ({
    ...{ name: `plimsoll_upstream_${name}`, help, registers: [prometheus] },
    labelNames: ['upstream', 'kind'],
    collect(this: Counter | Gauge) {
      this.reset()
      for (const [labels, n] of read()) if (n !== null) this.inc(labels, n)
    },
  })
  const each = (read: (counts: UpstreamCounts) => number | null) => () =>
    sources.map(({ name: upstream, counts }): Sample => [{ upstream }, read(counts)])
  for (const [what, help] of COUNTED) {
    const read = each(counts => counts[what])
    new Counter(options(`${what}_total`, help, read))
  }
  const alarms = () =>
    sources.flatMap(({ name: upstream, counts }) =>
      Array.from(counts.alarms, ([kind, n]): Sample => [{ upstream, kind }, n]),
    )
  new Counter(options('alarms_total', 'What the upstream has changed of the past, by kind', alarms))
  const isUp = each(({ failure }) => (failure === null ? 1 : 0))
  new Gauge(options('up', '1 if the last request to the upstream succeeded', isUp))
  const age = each(({ answered }) => answered && (now().getTime() - answered) / 1000)
  new Gauge(options('age', 'Seconds since the upstream last answered', age))
  const kept = each(counts => counts.kept)
  new Gauge(options('kept_bytes', 'Bytes of the `.crate` files that are kept', kept))
  const undated = () =>
    Array.from(byName.values(), ({ name, undated: n }): Sample => [{ upstream: name }, n])
  const help = 'Versions in memory that are held because nobody knows their age'
  new Gauge(options('undated', help, undated))
}
