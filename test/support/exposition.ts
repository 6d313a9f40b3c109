import assert from 'node:assert/strict'

/** One line of a page for Prometheus. */
export interface Sample {
  readonly name: string
  /** As written, without the braces. */
  readonly labels: string
  /** Name and labels. */
  readonly key: string
  readonly value: number
}

/** A page for Prometheus. */
export interface Exposition {
  /** Type of each metric, by the name of its family. */
  readonly types: ReadonlyMap<string, string>
  readonly samples: readonly Sample[]
}

const LABEL = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"`
const SAMPLE = new RegExp(
  String.raw`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(${LABEL}(?:,${LABEL})*)?\})? (\S+)$`,
)
const PARTS: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
}

/**
 * Reads Prometheus' text format 0.0.4 and fails at the first line that is none: HELP and TYPE come
 * once and before their samples, samples stand together by family, and no sample comes twice.
 */
export function parseExposition(text: string): Exposition {
  assert.ok(text.endsWith('\n'), 'the last line ends')
  const types = new Map<string, string>()
  const helped = new Set<string>()
  const keys = new Set<string>()
  const samples: Sample[] = []
  let family = ''
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, help] = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) \S/.exec(line) ?? []
    const [, typed, type = ''] =
      /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary)$/.exec(line) ?? []
    if (help !== undefined) {
      assert.ok(!helped.has(help), `HELP of ${help} comes once`)
      helped.add(help)
    } else if (typed !== undefined) {
      assert.ok(
        !types.has(typed) && helped.has(typed),
        `TYPE of ${typed} comes once, after its HELP`,
      )
      types.set(typed, type)
      family = typed
    } else {
      const [, name = '', labels = '', number = ''] =
        SAMPLE.exec(line) ?? assert.fail(`no sample: ${line}`)
      const parts = PARTS[types.get(family) ?? ''] ?? assert.fail(`no family: ${line}`)
      assert.ok(
        parts.some(part => name === family + part),
        `${line} stands under ${family}`,
      )
      const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number)
      // Prometheus reads numbers with Go's ParseFloat, to which `Nan` is one.
      assert.ok(!Number.isNaN(value) || /^nan$/i.test(number), line)
      const key = labels === '' ? name : `${name}{${labels}}`
      assert.ok(!keys.has(key), `${key} comes once`)
      keys.add(key)
      samples.push({ name, labels, key, value })
    }
  }
  return { types, samples }
}
