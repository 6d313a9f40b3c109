import { Counter, Gauge, type Registry as Prometheus } from 'prom-client'
import type { UpstreamCounts } from '../../generator/upstream/counts.ts'
import type { Upstreams } from '../../generator/upstream/open.ts'

type Samples = readonly (readonly [labels: Record<string, string>, n: number])[]

/** Adds the metrics of upstreams, if there are any; those with one index share what is counted. */
export function upstreamMetrics(
  { byName, sources }: Pick<Upstreams, 'byName' | 'sources'>,
  prometheus: Prometheus,
  now: () => Date,
): void {
  if (sources.length === 0) return
  const each = (read: (counts: UpstreamCounts) => number | null) => () =>
    sources.flatMap(({ name: upstream, counts }): Samples => {
      const n = read(counts)
      return n === null ? [] : [[{ upstream }, n]]
    })
  const options = (name: string, help: string, read: () => Samples) => ({
    ...{ name: `plimsoll_upstream_${name}`, help, registers: [prometheus] },
    labelNames: name === 'alarms_total' ? ['upstream', 'kind'] : ['upstream'],
    collect(this: Counter | Gauge) {
      this.reset()
      for (const [labels, n] of read()) this.inc(labels, n)
    },
  })
  const counted = [
    ['hits', 'Files that were here when somebody asked for them'],
    ['misses', 'Files that the upstream was asked for'],
    ['bytes', 'Bytes of `.crate` files that came from the upstream'],
    ['errors', 'Requests that the upstream did not answer as it should'],
    ['stale', 'Answers older than `fresh`, because the upstream is away'],
  ] as const
  for (const [what, help] of counted)
    new Counter(
      options(
        `${what}_total`,
        help,
        each(counts => counts[what]),
      ),
    )
  const alarms = () =>
    sources.flatMap(({ name: upstream, counts }) =>
      Array.from(counts.alarms, ([kind, n]) => [{ upstream, kind }, n] as const),
    )
  new Counter(options('alarms_total', 'What the upstream has changed of the past, by kind', alarms))
  const gauge = (name: string, help: string, read: () => Samples) =>
    new Gauge(options(name, help, read))
  const isUp = each(({ failure }) => (failure === null ? 1 : 0))
  gauge('up', '1 if the last request to the upstream succeeded', isUp)
  const age = each(({ answered }) => answered && (now().getTime() - answered) / 1000)
  gauge('age', 'Seconds since the upstream last answered', age)
  gauge(
    'kept_bytes',
    'Bytes of the `.crate` files that are kept',
    each(({ kept }) => kept),
  )
  const undated = () =>
    Array.from(byName.values(), ({ name: upstream, undated: n }) => [{ upstream }, n] as const)
  gauge('undated', 'Versions in memory that are held because nobody knows their age', undated)
}
