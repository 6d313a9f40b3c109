import type { SearchedCrate } from './whole-search.ts'

/** A well-known kind of crate, with the names of its dependencies. */
export interface KnownCrate extends SearchedCrate {
  readonly needs: readonly string[]
}

/** Names, texts and labels like those of well-known crates; dependencies come first. */
const CRATES: readonly [
  name: string,
  description: string,
  labels: string,
  license: string,
  rust: string | null,
  needs: string,
][] = [
  [
    'serde',
    'A generic serialization/deserialization framework',
    'serde serialization no_std encoding',
    'MIT OR Apache-2.0',
    '1.56',
    '',
  ],
  [
    'serde_json',
    'A JSON serialization file format',
    'json serde serialization encoding',
    'MIT OR Apache-2.0',
    '1.56',
    'serde',
  ],
  [
    'Serde-Yaml',
    'YAML data format for Serde',
    'yaml serde serialization encoding',
    'MIT OR Apache-2.0',
    '1.64',
    'serde',
  ],
  [
    'tokio',
    'An event-driven, non-blocking I/O platform for writing asynchronous applications',
    'io async non-blocking futures asynchronous',
    'MIT',
    '1.70',
    '',
  ],
  [
    'tokio-util',
    'Additional utilities for working with Tokio',
    'tokio asynchronous',
    'MIT',
    '1.70',
    'tokio',
  ],
  [
    'async-trait',
    'Type erasure for async trait methods',
    'async asynchronous',
    'MIT OR Apache-2.0',
    '1.56',
    '',
  ],
  [
    'hyper',
    'A protective and efficient HTTP library for all',
    'http hyper hyperium web-programming',
    'MIT',
    '1.63',
    'tokio',
  ],
  [
    'regex',
    'An implementation of regular expressions for Rust',
    'text-processing',
    'MIT OR Apache-2.0',
    '1.65',
    '',
  ],
  [
    'nom',
    'A byte-oriented, zero-copy, parser combinators library',
    'parser parser-combinators parsing',
    'MIT',
    '1.65',
    '',
  ],
  [
    'simd-json',
    'High performance JSON parser based on a port of simdjson',
    'json simd parsing',
    'Apache-2.0 OR MIT',
    '1.80',
    'serde',
  ],
  ['rapid', 'Reads JSON quickly', 'parser encoding', 'GPL-3.0-only', null, 'serde serde_json'],
  ['pest', 'The elegant parser', 'parser grammar parsing', 'MIT OR Apache-2.0', '1.61', ''],
  [
    'clap',
    'A simple to use, efficient, and full-featured command line argument parser',
    'argument cli parser command-line-interface',
    'MIT OR Apache-2.0',
    '1.74',
    '',
  ],
  [
    'log',
    'A lightweight logging facade for Rust',
    'logging development-tools::debugging',
    'MIT OR Apache-2.0',
    '1.60',
    '',
  ],
  [
    'rayon',
    'Simple work-stealing parallelism for Rust',
    'parallel thread concurrency',
    'MIT OR Apache-2.0',
    '1.63',
    '',
  ],
  [
    'serialport',
    'A cross-platform low-level serial port library',
    'serial hardware',
    'MPL-2.0',
    '1.59',
    '',
  ],
]

const CATEGORIES = new Set(
  'encoding asynchronous parsing text-processing web-programming command-line-interface concurrency development-tools::debugging'.split(
    ' ',
  ),
)

/** Crates like well-known ones, in the order of their ids in a tree of files alone: by name. */
export const knownCrates: readonly KnownCrate[] = CRATES.map(
  ([name, description, labels, license, rust, needs]) => {
    const words = labels.split(' ')
    const categories = words.filter(word => CATEGORIES.has(word))
    const keywords = words.filter(word => !CATEGORIES.has(word))
    return {
      name,
      newest: '1.0.0',
      about: { description, keywords, categories, license },
      yanked: false,
      rust,
      needs: needs === '' ? [] : needs.split(' '),
      dependents: CRATES.filter(crate => crate[5].split(' ').includes(name)).length,
    }
  },
).sort((a, b) => (keyOf(a.name) < keyOf(b.name) ? -1 : 1))

function keyOf(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}
