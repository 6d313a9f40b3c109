import { join } from 'node:path'
import type { CrateParts } from '../../support/crate-builder.ts'
import { inventedEntries } from '../../support/many-crates.ts'
import { writeCrate } from '../../support/write-crate.ts'

/** Where the trees of the measurements would be served. */
export const BASE = 'https://crates.example'

/** Some of the invented names are reserved. */
function nameOf(entries: ReturnType<typeof inventedEntries>, at: number): string {
  return `my-${entries[at]?.name}`
}

/** Returns the parts of an invented crate: a README, keywords, up to two needs of earlier ones. */
function partsOf(entries: ReturnType<typeof inventedEntries>, at: number): CrateParts {
  const { about } = entries[at] ?? { about: { description: '', keywords: [] } }
  const name = nameOf(entries, at)
  const keywords = about.keywords.filter(word => /^[a-z][a-z0-9]{0,18}$/.test(word)).slice(0, 5)
  const earlier = at === 0 ? [] : [at >> 1, at >> 3].slice(0, at % 3)
  const needs = [...new Set(earlier.map(other => nameOf(entries, other)))]
  const index = `registry-index = "sparse+${BASE}/index/"`
  const manifest = [
    `keywords = ${JSON.stringify(keywords)}`,
    'readme = "README.md"',
    ...needs.map(need => `[dependencies.${need}]\nversion = "1"\n${index}`),
  ].join('\n')
  const package_ = `[package]\nname = "${name}"\nversion = "1.0.0"\nedition = "2021"
description = "${about.description}"\nlicense = "MIT"\n`
  const code = `let ${name.replaceAll('-', '_')} = 1; // ${about.description}`
  const readme = `# ${name}\n\n${about.description}\n\n## Use\n\n\`\`\`rust\n${code}\n\`\`\`\n
- ${about.keywords.join('\n- ')}\n\nSee [the site](https://example.org/${name}).\n`
  const source = `//! ${about.description}\npub fn run() {}\n`
  const files = { 'Cargo.toml': package_ + manifest, 'README.md': readme, 'src/lib.rs': source }
  return { name, version: '1.0.0', manifest: package_ + manifest, files }
}

/** Writes `.crate` files of invented crates, always the same; those from `begin` up to `end`. */
export function writeCrates(folder: string, begin: number, end: number, among: number): void {
  const entries = inventedEntries(among)
  for (let at = begin; at < end; at++) {
    const parts = partsOf(entries, at)
    writeCrate(join(folder, `${parts.name}-${parts.version}.crate`), parts)
  }
}
