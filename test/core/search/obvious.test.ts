// Mirrors core/search/hits.ts: what somebody expects to come first, among crates of crates.io.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lookup } from '../../../core/search/lookup.ts'
import { searchFor } from '../../support/render-search.ts'
import { type SearchedCrate, searchFiles } from '../../support/whole-search.ts'

/** Name, number of dependents among 3,000 crates, keywords and categories; then the description. */
const CRATES = `
tokio | 276 | io async non-blocking futures | asynchronous network-programming
  An event-driven, non-blocking I/O platform for writing asynchronous I/O backed
  applications.
smol | 21 | async await future io networking | asynchronous concurrency network-programming
  A small and fast async runtime
async-global-executor | 5 | async await future executor | asynchronous concurrency
  A global executor built on top of async-executor and async-io
axum | 8 | http web routing | asynchronous network-programming web-programming::http-server
  HTTP routing and request handling library that focuses on ergonomics and modularity
axum-core | 3 | http web framework | asynchronous network-programming web-programming
  Core types and traits for axum
actix-web | 9 | actix http web framework async | asynchronous
  Actix Web is a powerful, pragmatic, and extremely fast web framework for Rust
tide | 3 | tide http web framework async | network-programming asynchronous
  A minimal and pragmatic Rust web application framework built for rapid development
hyper | 43 | http hyper hyperium | network-programming web-programming::http-server
  A protective and efficient HTTP library for all.
http-body | 19 | http | web-programming
  Trait representing an asynchronous, streaming, HTTP request or response body.
h2 | 8 | http async non-blocking | asynchronous web-programming network-programming
  An HTTP/2 client and server
ureq | 18 | web request https http client | web-programming::http-client
  Simple, safe HTTP client
reqwest | 34 | http request client | web-programming::http-client wasm
  higher level HTTP client library
rand | 384 | random rng | algorithms no-std
  Random number generators and other randomness functionality.
const-random | 4 | rust constants macro | 
  Provides compile time random number generation.
fastrand | 44 | simple fast rand random wyrand | algorithms
  A simple and fast random number generator
serde | 800 | serde serialization no_std | encoding no-std no-std::no-alloc
  A generic serialization/deserialization framework
bevy_world_serialization | 3 | bevy | 
  Provides ECS World serialization functionality for Bevy Engine
const-serialize | 2 | const serialize | 
  A serialization framework that works in const contexts
clap | 52 | argument cli arg parser parse | command-line-interface
  A simple to use, efficient, and full-featured Command Line Argument Parser
clipboard | 0 | clipboard | 
  rust-clipboard is a cross-platform library for getting and setting the contents of the
  OS-level clipboard.
dioxus-cli-config | 7 | web desktop mobile gui wasm | 
  CLI Configuration for dioxus-cli
thiserror | 247 | error error-handling derive | rust-patterns no-std
  derive(Error)
gix-error | 51 |  | 
  A crate of the gitoxide project to provide common errors and error-handling utilities
rayon | 94 | parallel thread concurrency join performance | concurrency
  Simple work-stealing parallelism for Rust
gix-parallel | 11 |  | 
  Serial and parallel computation helpers and shared ownership primitives for gitoxide
flate2 | 57 | gzip deflate zlib zlib-ng encoding | compression api-bindings
  DEFLATE compression and decompression exposed as Read/BufRead/Write streams. Supports
  miniz_oxide and multiple zlib implementations. Supports zlib, gzip, and raw deflate
gzip-header | 2 | gzip compression | compression
  A crate for decoding and encoding the header part of gzip files based on the gzip header
  implementation in the flate2 crate.
sqlx | 8 |  | 
  🧰 The Rust SQL Toolkit. An async, pure Rust SQL crate featuring compile-time checked
  queries without a DSL. Supports PostgreSQL, MySQL, and SQLite.
datafusion-sql | 2 | datafusion sql parser planner | 
  DataFusion SQL Query Planner
ratatui | 3 | dashboard terminal tui | command-line-interface
  A library that's all about cooking up terminal user interfaces
ratatui-core | 6 | dashboard terminal tui | command-line-interface
  Core types and traits for the Ratatui Terminal UI library. Widget libraries should use
  this crate. Applications should use the main Ratatui crate.
libp2p | 0 | peer-to-peer libp2p networking | network-programming asynchronous
  Peer-to-peer networking library
libp2p-core | 4 | peer-to-peer libp2p networking | network-programming asynchronous
  Core traits and structs of libp2p`

const READMES: Readonly<Record<string, string>> = {
  tokio: 'A runtime for writing reliable, asynchronous, and slim applications',
  hyper: 'A protective and efficient HTTP library.\n\n- HTTP/1 and HTTP/2\n- Asynchronous design',
}

const QUERIES = {
  'async runtime': 'tokio',
  'web framework': 'axum',
  'http server': 'hyper',
  'http client': 'hyper reqwest',
  'async http': 'hyper',
  random: 'rand',
  'random numbers': 'rand',
  serialization: 'serde',
  cli: 'clap',
  'command line parser': 'clap',
  'error handling': 'thiserror',
  parallel: 'rayon',
  gzip: 'flate2',
  sql: 'sqlx',
  'terminal ui': 'ratatui',
  'peer to peer': 'libp2p',
  clipboard: 'clipboard',
}

/** A crate as the records give it to the search: with what it has of its core. */
const crates = CRATES.trim()
  .split(/\n(?! )/)
  .map((text): SearchedCrate => {
    const [line = '', ...description] = text.split('\n')
    const [name = '', dependents, keywords = '', categories = ''] = line.split(/ ?\| ?/)
    const words = (list: string) => list.split(' ').filter(Boolean)
    const about = { description: description.join(' '), keywords: words(keywords) }
    return {
      ...{ name, newest: '1.0.0', yanked: false, dependents: Number(dependents) },
      ...{ readme: READMES[name] ?? null, about: { ...about, categories: words(categories) } },
    }
  })

function withCore(crate: SearchedCrate): SearchedCrate {
  const core = crates.find(({ name }) => name === `${crate.name}-core`)
  if (!core) return crate
  const dependents = Math.max(crate.dependents ?? 0, core.dependents ?? 0)
  return { ...crate, dependents, core: core.about }
}

test('the obvious crate comes first', async () => {
  const files = new Map([...searchFiles(crates.map(withCore))].map(file => [file.path, file.bytes]))
  const load = async (path: string) => String(files.get(`search/${path}`))
  const first: Record<string, string> = {}
  for (const [q, expected] of Object.entries(QUERIES)) {
    const found = (await new Lookup({ load }).search(searchFor(q), 1)).crates[0]?.name ?? 'nothing'
    first[q] = expected.split(' ').includes(found) ? expected : found
  }
  assert.deepEqual(first, QUERIES)
})
