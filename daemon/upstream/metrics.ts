import { Counter, Gauge, type Registry as Prometheus } from 'prom-client'
import type { AlarmKind } from '../../core/upstream/crate.ts'
import { ALARMS } from '../../core/upstream/explain.ts'
import type { UpstreamCounts } from '../../generator/upstream/counts.ts'
import type { Upstreams } from '../../generator/upstream/open.ts'

type Metric = [name: string, help: string, read: (counts: UpstreamCounts) => number | null]
type Sample = readonly [labels: Record<string, string>, n: number | null]

/** Adds the metrics of upstreams, if there are any; those with one index share what is counted. */
export function upstreamMetrics(
  { byName, sources }: Pick<Upstreams, 'byName' | 'sources'>,
  prometheus: Prometheus,
  now: () => Date,
): void {
  if (sources.length === 0) return
  const add = (name: string, help: string, read: () => readonly Sample[]) => {
    const options = {
      ...{ name: `plimsoll_upstream_${name}`, help, registers: [prometheus] },
      labelNames: ['upstream', 'kind'],
      collect(this: Counter | Gauge) {
        this.reset()
        for (const [labels, n] of read()) if (n !== null) this.inc(labels, n)
      },
    }
    return name.endsWith('_total') ? new Counter(options) : new Gauge(options)
  }
  const age: Metric[2] = ({ answered }) => answered && (now().getTime() - answered) / 1000
  const metrics: Metric[] = [
    ['hits_total', 'Files that were here when somebody asked for them', ({ hits }) => hits],
    ['misses_total', 'Files that the upstream was asked for', ({ misses }) => misses],
    ['bytes_total', 'Bytes of `.crate` files that came from the upstream', ({ bytes }) => bytes],
    ['errors_total', 'Requests that the upstream did not answer as it should', each => each.errors],
    [
      'stale_total',
      'Answers older than `fresh`: the upstream is away, or was asked too much',
      each => each.stale,
    ],
    ['up', '1 if the last request to the upstream succeeded', each => +(each.failure === null)],
    ['age', 'Seconds since the upstream last answered', age],
    ['kept_bytes', 'Bytes of the index lines and `.crate` files that are kept', ({ kept }) => kept],
  ]
  for (const [name, help, read] of metrics)
    add(name, help, () => sources.map(({ name, counts }) => [{ upstream: name }, read(counts)]))
  add('alarms_total', 'What the upstream has changed of the past, by kind', () =>
    sources.flatMap(({ name: upstream, counts }) =>
      // `increase` of Prometheus does not count the one with which a series begins.
      Object.keys(ALARMS).map((kind): Sample => {
        return [{ upstream, kind }, counts.alarms.get(kind as AlarmKind) ?? 0]
      }),
    ),
  )
  add('undated', 'Versions in memory that are held because nobody knows their age', () =>
    Array.from(byName.values(), ({ name, undated }): Sample => [{ upstream: name }, undated]),
  )
}
