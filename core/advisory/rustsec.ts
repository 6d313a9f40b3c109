import * as v from 'valibot'
import { parseToml } from '../toml.ts'
import { type Advisory, advisoryOf, badAdvisory, ITEMS_MAX } from './advisory.ts'
import { rangesWithout } from './ranges.ts'

const texts = v.optional(v.array(v.string()), [])
const text = v.optional(v.nullable(v.string()), null)

const SCHEMA = v.object({
  advisory: v.object({
    id: v.string(),
    package: v.string(),
    date: v.string(),
    withdrawn: text,
    collection: text,
    source: text,
    url: text,
    references: texts,
    informational: text,
    cvss: text,
    aliases: texts,
    related: texts,
  }),
  affected: v.optional(
    v.object({
      arch: texts,
      os: texts,
      functions: v.optional(v.record(v.string(), v.unknown()), {}),
    }),
    {},
  ),
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
  const front = text.slice(7, end).trim()
  const [, title = '', description = ''] =
    /^# ([^\n]*)([\s\S]*)$/.exec(text.slice(end + 4).trim()) ?? []
  const toml = front.startsWith('[advisory]') ? front : `[advisory]\n${front}`
  const document = parseToml(toml, reason => badAdvisory(`its TOML is not valid: ${reason}`))
  const result = v.safeParse(SCHEMA, document, { abortEarly: true })
  if (!result.success) {
    const [{ path, message }] = result.issues
    return badAdvisory(`${path?.map(item => String(item.key)).join('.')}: ${message}`)
  }
  const { advisory, affected, versions } = result.output
  if (advisory.withdrawn !== null || advisory.collection === 'rust') return []
  const requirements = [...versions.patched, ...versions.unaffected]
  if (requirements.length > ITEMS_MAX) badAdvisory(`it has more than ${ITEMS_MAX} requirements`)
  const ranges =
    rangesWithout(requirements) ?? badAdvisory('`versions` has what is no requirement of Cargo')
  const { date, url, references, ...more } = advisory
  return [
    advisoryOf({
      ...more,
      title,
      description: description.trim(),
      published: date,
      modified: date,
      references: url === null ? references : [url, ...references],
      functions: Object.keys(affected.functions ?? {}),
      arch: affected.arch ?? [],
      os: affected.os ?? [],
      ranges,
    }),
  ]
}
