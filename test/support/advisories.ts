/** What differs from an advisory on all versions of `demo`. */
export interface AdvisoryParts {
  readonly id?: string
  readonly name?: string
  readonly title?: string
  readonly patched?: readonly string[]
  readonly unaffected?: readonly string[]
  /** Further lines of `[advisory]`. */
  readonly more?: string
}

/** Returns a file of RustSec's database. */
export function rustSecFile(parts: AdvisoryParts): string {
  const { id = 'RUSTSEC-2026-0001', name = 'demo', title = 'Demo has a hole' } = parts
  const { patched = [], unaffected = [], more = '' } = parts
  return `\`\`\`toml
[advisory]
id = ${JSON.stringify(id)}
package = ${JSON.stringify(name)}
date = "2026-01-31"
${more}

[versions]
patched = ${JSON.stringify(patched)}
unaffected = ${JSON.stringify(unaffected)}
\`\`\`

# ${title}

What **the hole** does.
`
}

/** Returns a file of OSV; `more` replaces what an export of RustSec has. */
export function osvFile({
  events = [{ introduced: '0.0.0-0' }] as readonly object[],
  versions = [] as readonly string[],
  ecosystem = 'crates.io',
  name = 'demo',
  ...more
}: Readonly<Record<string, unknown>> & { readonly name?: string } = {}): string {
  return JSON.stringify({
    id: 'RUSTSEC-2026-0001',
    modified: '2026-02-01T08:00:00.123456Z',
    published: '2026-01-31T12:00:00Z',
    withdrawn: null,
    aliases: ['CVE-2026-1234'],
    summary: 'Demo has a hole',
    details: 'What the hole does.',
    affected: [{ package: { ecosystem, name }, ranges: [{ type: 'SEMVER', events }], versions }],
    ...more,
  })
}
