import type { SearchedCrate } from './whole-search.ts'

/** A well-known kind of crate, with the names of its dependencies. */
export interface KnownCrate extends SearchedCrate {
  readonly needs: readonly string[]
}

/**
 * Crates like well-known ones, with dependencies first: name, labels, license, Rust version and
 * dependencies; then the description.
 */
const CRATES = `
serde | serde serialization no_std encoding | MIT OR Apache-2.0 | 1.56 |
  A generic serialization/deserialization framework
serde_json | json serde serialization encoding | MIT OR Apache-2.0 | 1.56 | serde
  A JSON serialization file format
Serde-Yaml | yaml serde serialization encoding | MIT OR Apache-2.0 | 1.64 | serde
  YAML data format for Serde
tokio | io async non-blocking futures asynchronous | MIT | 1.70 |
  An event-driven, non-blocking I/O platform for writing asynchronous applications
tokio-util | tokio asynchronous | MIT | 1.70 | tokio
  Additional utilities for working with Tokio
async-trait | async asynchronous | MIT OR Apache-2.0 | 1.56 |
  Type erasure for async trait methods
hyper | http hyper hyperium web-programming | MIT | 1.63 | tokio
  A protective and efficient HTTP library for all
regex | text-processing | MIT OR Apache-2.0 | 1.65 |
  An implementation of regular expressions for Rust
nom | parser parser-combinators parsing | MIT | 1.65 |
  A byte-oriented, zero-copy, parser combinators library
simd-json | json simd parsing | Apache-2.0 OR MIT | 1.80 | serde
  High performance JSON parser based on a port of simdjson
rapid | parser encoding | GPL-3.0-only |  | serde serde_json
  Reads JSON quickly
pest | parser grammar parsing | MIT OR Apache-2.0 | 1.61 |
  The elegant parser
clap | argument cli parser command-line-interface | MIT OR Apache-2.0 | 1.74 |
  A simple to use, efficient, and full-featured command line argument parser
log | logging development-tools::debugging | MIT OR Apache-2.0 | 1.60 |
  A lightweight logging facade for Rust
rayon | parallel thread concurrency | MIT OR Apache-2.0 | 1.63 |
  Simple work-stealing parallelism for Rust
serialport | serial hardware | MPL-2.0 | 1.59 |
  A cross-platform low-level serial port library
`

const CATEGORIES = new Set(
  'encoding asynchronous parsing text-processing web-programming command-line-interface concurrency development-tools::debugging'.split(
    ' ',
  ),
)

/** The crates in the order of their ids in a tree of files alone: by name. */
export const knownCrates: readonly KnownCrate[] = readCrates().sort((a, b) =>
  keyOf(a.name) < keyOf(b.name) ? -1 : 1,
)

function readCrates(): KnownCrate[] {
  const rows = [...CRATES.matchAll(/^(\S+) \| (.+) \| (.+) \| (.*) \|(.*)\n {2}(.+)$/gm)]
  const needsOf = (text = '') => text.split(' ').filter(Boolean)
  return rows.map(([, name = '', labels = '', license = '', rust, needs, description = '']) => {
    const words = labels.split(' ')
    const categories = words.filter(word => CATEGORIES.has(word))
    const keywords = words.filter(word => !CATEGORIES.has(word))
    return {
      name,
      newest: '1.0.0',
      about: { description, keywords, categories, license },
      yanked: false,
      rust: rust || null,
      needs: needsOf(needs),
      dependents: rows.filter(row => needsOf(row[5]).includes(name)).length,
    }
  })
}

function keyOf(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}
