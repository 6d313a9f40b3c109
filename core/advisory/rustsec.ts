import * as v from 'valibot'
import { parseToml } from '../toml.ts'
import { type Advisory, advisoryOf, badAdvisory, ITEMS_MAX } from './advisory.ts'
import { rangesWithout } from './ranges.ts'

const texts = v.optional(v.array(v.string()), [])
const text = v.optional(v.string())
const functions = v.optional(v.record(v.string(), v.unknown()), {})

const SCHEMA = v.object({
  advisory: v.object({
    ...{ id: v.string(), package: v.string(), date: v.string(), withdrawn: text, collection: text },
    ...{ source: text, url: text, references: texts, informational: text, cvss: text },
    ...{ aliases: texts },
  }),
  affected: v.optional(v.object({ arch: texts, os: texts, functions }), {}),
  versions: v.object({ patched: v.array(v.string()), unaffected: texts }),
})

/**
 * Reads a file of RustSec's database: Markdown whose front matter is TOML. Returns nothing for one
 * that was withdrawn, or that is about Rust itself. Refuses what is none, and wrong requirements.
 */
export function parseRustSec(file: string): Advisory[] {
  const text = file.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const end = text.indexOf('\n```')
  if (!text.startsWith('```toml') || end === -1)
    badAdvisory('it does not begin with TOML between lines of ```toml and ```')
  const [, title = '', description = ''] =
    /^# ([^\n]*)([\s\S]*)$/.exec(text.slice(end + 4).trim()) ?? []
  const front = text
    .slice(7, end)
    .trim()
    .replace(/^(?!\[advisory\])/, '[advisory]\n')
  const document = parseToml(front, reason => badAdvisory(`its TOML is not valid: ${reason}`))
  const { advisory, affected, versions } = parsedBy(SCHEMA, document)
  const { date, url, source, informational, cvss, ...more } = advisory
  if (advisory.withdrawn !== undefined || advisory.collection === 'rust') return []
  const requirements = [...versions.patched, ...versions.unaffected]
  if (requirements.length > ITEMS_MAX) badAdvisory(`it has more than ${ITEMS_MAX} requirements`)
  const { arch = [], os = [], functions = {} } = affected
  const about = {
    ...{ ...more, title, description: description.trim(), published: date, modified: date },
    ...{ source: source ?? null, informational: informational ?? null, cvss: cvss ?? null },
    ...{ arch, os, functions: Object.keys(functions) },
    references: [...(url === undefined ? [] : [url]), ...advisory.references],
  }
  const bad = () => badAdvisory('`versions` has what is no requirement of Cargo')
  return [advisoryOf({ ...about, ranges: rangesWithout(requirements) ?? bad() })]
}

/** Returns what a schema takes from a file; refuses it with the first thing that is wrong. */
export function parsedBy<S extends v.GenericSchema>(schema: S, document: unknown) {
  const result = v.safeParse(schema, document, { abortEarly: true })
  if (result.success) return result.output
  const [{ path, message }] = result.issues
  return badAdvisory(`${path?.map(item => String(item.key)).join('.') ?? 'JSON'}: ${message}`)
}
