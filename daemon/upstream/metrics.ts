import { Counter, Gauge, type Registry as Prometheus } from 'prom-client'
import type { Upstreams } from '../../generator/upstream/open.ts'
import type { Upstream } from '../../generator/upstream/upstream.ts'

type Samples = readonly (readonly [labels: Record<string, string>, n: number])[]

/** Adds the metrics of upstreams, if there are any; those with one index share what is counted. */
export function upstreamMetrics(
  { byName }: Pick<Upstreams, 'byName'>,
  prometheus: Prometheus,
  now: () => Date,
): void {
  const all = [...byName.values()]
  if (all.length === 0) return
  const registers = [prometheus]
  const sources = all.filter(
    (upstream, at) => all.findIndex(({ source }) => source === upstream.source) === at,
  )
  const each = (of: readonly Upstream[], read: (upstream: Upstream) => number | null) => () =>
    of.flatMap((upstream): Samples => {
      const n = read(upstream)
      return n === null ? [] : [[{ upstream: upstream.name }, n]]
    })
  const counter = (name: string, help: string, read: () => Samples, more: string[] = []) =>
    new Counter({
      ...{ name: `plimsoll_upstream_${name}`, help, registers },
      labelNames: ['upstream', ...more],
      collect() {
        this.reset()
        for (const [labels, n] of read()) this.inc(labels, n)
      },
    })
  const gauge = (name: string, help: string, read: () => Samples) =>
    new Gauge({
      ...{ name: `plimsoll_upstream_${name}`, help, registers, labelNames: ['upstream'] },
      collect() {
        this.reset()
        for (const [labels, n] of read()) this.set(labels, n)
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
    counter(
      `${what}_total`,
      help,
      each(sources, ({ source }) => source.counts[what]),
    )
  const alarms = () =>
    sources.flatMap(({ name: upstream, source }) =>
      Array.from(source.counts.alarms, ([kind, n]) => [{ upstream, kind }, n] as const),
    )
  counter('alarms_total', 'What the upstream has changed of the past, by kind', alarms, ['kind'])
  const isUp = ({ source }: Upstream) => (source.counts.failure === null ? 1 : 0)
  gauge('up', '1 if the last request to the upstream succeeded', each(sources, isUp))
  const age = ({ source: { counts } }: Upstream) =>
    counts.answered === null ? null : (now().getTime() - counts.answered) / 1000
  gauge('age', 'Seconds since the upstream last answered', each(sources, age))
  const kept = ({ source }: Upstream) => source.counts.kept
  gauge('kept_bytes', 'Bytes of the `.crate` files that are kept', each(sources, kept))
  const undated = (upstream: Upstream) => upstream.undated
  gauge(
    'undated',
    'Versions in memory that are held because nobody knows their age',
    each(all, undated),
  )
}
