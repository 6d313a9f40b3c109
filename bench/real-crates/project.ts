import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Today's crates in their newest version: proc-macros, `-sys` crates with `links`, many features,
 * renames, targets.
 */
const NEWEST =
  `serde serde_json tokio hyper reqwest clap axum tower-http tracing-subscriber anyhow thiserror rand regex chrono time
  indexmap uuid toml_edit rustls openssl-src libz-sys zstd bzip2-sys lzma-sys rusqlite git2 curl-sys diesel actix-web
  windows nix image num criterion proptest bindgen cmake prost wasm-bindgen web-sys async-std csv askama pulldown-cmark
  tree-sitter redis sha2 blake3 ed25519-dalek pyo3 objc2 notify ratatui dialoguer embassy-executor cortex-m fs-err
  derive_more rstest tikv-jemalloc-sys onig_sys pcre2-sys lz4-sys freetype-sys zip hidapi mimalloc libloading wgpu-types
  bevy_ecs ndarray rayon`
    .split(/\s+/)
    .filter(name => name !== '')

/** Crates as they were packed from 2014 on, by Cargos that normalised nothing yet. */
const OLD: readonly (readonly [name: string, version: string])[] = [
  ['rustc-serialize', '0.3'],
  ['Inflector', '0.11'],
  ['gcc', '0.3'],
  ['hyper', '0.6'],
  ['log', '0.3'],
  ['regex', '0.1'],
  ['bitflags', '0.1'],
  ['num', '0.1'],
  ['rand', '0.3'],
  ['libc', '0.1'],
  ['winapi', '0.2'],
  ['docopt', '0.6'],
  ['toml', '0.1'],
  ['encoding', '0.2'],
  ['semver', '0.6'],
  ['serde', '0.6'],
  ['syn', '0.11'],
  ['syn', '0.15'],
  ['clap', '2'],
  ['clap', '3'],
  ['futures', '0.1'],
  ['tokio-core', '0.1'],
  ['diesel', '0.16'],
  ['vecmath', '1'],
  ['image', '0.3'],
  ['mustache', '0.6'],
  ['unicase', '1'],
  ['byteorder', '0.3'],
  ['phf', '0.6'],
  ['chrono', '0.2'],
  ['nix', '0.3'],
  ['actix-web', '0.7'],
  ['failure', '0.1'],
  ['error-chain', '0.11'],
  ['slog', '2'],
  ['structopt', '0.2'],
  ['itertools', '0.4'],
  ['rayon', '0.6'],
  ['postgres', '0.9'],
  ['tempdir', '0.3'],
]

/** These pull in OpenSSL bindings that cannot stand beside today's. */
const WITHOUT_DEFAULTS = new Set(['hyper 0.6', 'actix-web 0.7'])

/**
 * Writes a project that depends on all of them and lets `cargo fetch` take the whole graph into a
 * Cargo home of its own below the temporary folder. Gives the cache folders, and what to remove in
 * the end. Cargo may stop at a manifest of 2015 that it no longer reads; what it had fetched by
 * then counts.
 */
export function fetchProject(): { folders: string[]; remove: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'real-crates-'))
  const home = join(folder, 'cargo-home')
  mkdirSync(join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'src', 'lib.rs'), '')
  writeFileSync(join(folder, 'Cargo.toml'), manifest())
  console.log(`fetching into ${home} …`)
  const cargo = spawnSync('cargo', ['fetch', '--quiet'], {
    cwd: folder,
    stdio: 'inherit',
    env: { ...process.env, CARGO_HOME: home },
  })
  if (cargo.error) throw cargo.error
  const cache = join(home, 'registry', 'cache')
  return { folders: readdirSync(cache).map(name => join(cache, name)), remove: [folder] }
}

function manifest(): string {
  const old = OLD.map(([name, version], at) => {
    const defaults = WITHOUT_DEFAULTS.has(`${name} ${version}`) ? ', default-features = false' : ''
    return `old_${at} = { package = "${name}", version = "${version}"${defaults} }`
  })
  const head = [
    '[package]',
    'name = "real-crates"',
    'version = "0.0.0"',
    'edition = "2021"',
    '[dependencies]',
  ]
  return [...head, ...NEWEST.map(name => `${name} = "*"`), ...old, ''].join('\n')
}
