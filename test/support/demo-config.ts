import { cargoConfig, cargoSetup } from '../../core/upstream/cargo-config.ts'
import { registryUrls } from '../../core/urls/urls.ts'
import type { CrateData, CrateItem, VersionData } from '../../site/crate-data.ts'
import { type PackagedReadme, renderReadme } from '../../site/readme/readme.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { dependency } from './release.ts'

/** An invented version with the given fields. */
export function version(more: Partial<VersionData> = {}): VersionData {
  const name = more.name ?? 'keel'
  const number = more.version ?? '1.4.0'
  return {
    ...{ name, version: number, yanked: false, size: 48_213 },
    ...{ publishedAt: '2026-11-02T09:30:00Z', publishedBy: 'ada' },
    cksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    download: `https://crates.example.com/crates/${name}/${name}-${number}.crate`,
    ...{ description: null, license: 'MIT OR Apache-2.0', license_file: null, edition: '2024' },
    ...{ homepage: null, documentation: null, repository: null, keywords: [], categories: [] },
    ...{ readme: null, readme_file: null, contents: null, previous: null },
    ...{ links: null, rust_version: null, deps: [], features: {} },
    ...more,
  }
}

/** A README of the invented crates, rendered. */
export function readme(text: string, more: Partial<PackagedReadme['about']> = {}): string {
  const about = { readme_file: 'README.md', repository: null, ...more }
  return renderReadme({ text, images: 'link', about }).html
}

/** An invented crate around its newest version. */
export function crate(newest: VersionData, more: Partial<CrateData> = {}): CrateData {
  return {
    name: newest.name,
    newest,
    versions: [newest],
    versionCount: more.versions?.length ?? 1,
    owners: [],
    dependents: [],
    dependentCount: 0,
    namesakes: new Map(),
    downloads: false,
    ...more,
  }
}

/** A crate in a list. */
export function card(newest: VersionData): CrateItem {
  const { name, version, publishedAt, yanked } = newest
  return { name, newest: version, about: newest, updatedAt: publishedAt, yanked }
}

export const KEEL_README = `# keel

[![build](https://ci.example.com/keel.svg)](https://ci.example.com/keel) [![docs](https://img.example.com/docs.svg)](https://docs.example.com/keel)

A small, dependable base for command line tools: argument parsing, configuration files and readable errors, in one crate that compiles in a second.

> [!NOTE]
> Version 1.4 needs Rust 1.85. See [the guide](docs/upgrade.md) if you come from 0.9.

## Getting started

\`\`\`rust
use keel::{App, Error};

/// Says hello to everyone named on the command line.
fn main() -> Result<(), Error> {
    let app = App::new("hello").version("1.0").arg("names");
    for (at, name) in app.values("names")?.iter().enumerate() {
        println!("{at}: Hello, {name}!"); // one line each
    }
    Ok(())
}
\`\`\`

Add it with one of its features:

\`\`\`toml
[dependencies]
keel = { version = "1.4", features = ["toml", "colour"] }
\`\`\`

## What it does

| Feature  | Default | Adds                                |
|----------|:-------:|-------------------------------------|
| \`std\`    |   yes   | everything that needs an allocator  |
| \`toml\`   |   no    | configuration files in TOML         |
| \`colour\` |   no    | coloured messages on terminals      |

- [x] Subcommands, as deep as you like
- [x] Shell completions[^1]
- [ ] Man pages

![How the parts fit together](docs/parts.png)

### Errors

Since <time datetime="2021-06-01">June 2021</time>, every error says *what* was wrong, **where**, and what to do next. It never panics.

1. Parse the arguments
2. Read the files they name
3. Report everything at once

[^1]: For bash, zsh and fish.
`

const keelDependencies = [
  dependency('rudder', '^2.1', { features: ['derive'] }),
  dependency('serde', '^1.0.200', {
    optional: true,
    default_features: false,
    features: ['derive', 'std'],
    registry: 'https://github.com/rust-lang/crates.io-index',
  }),
  dependency('toml_edit', '^0.22', { optional: true, package: 'toml-edit-fork' }),
  dependency('winapi-lite', '^0.4', { target: 'cfg(windows)' }),
  dependency('billing-core', '^3', { registry: 'sparse+https://crates.other.example/index/' }),
  dependency('bindings', '^0.9', { kind: 'build' }),
  dependency('insta-lite', '^1', { kind: 'dev' }),
]

const keelPlace = {
  repository: 'https://github.com/example/keel/tree/main/crates/keel',
  vcs_path: 'crates/keel',
}

function dependent(name: string, version: string, req: string): CrateData['dependents'][number] {
  return { name, version, req, kind: 'normal', optional: false, registry: null }
}

const VERSIONS = '1.4.0 1.3.2 1.3.1 1.3.0 1.2.0-rc.1 1.1.0 1.0.0 0.9.4 0.9.3'.split(' ')

/** A crate that has a bit of everything. */
export const keel: CrateData = crate(
  version({
    description: 'A small, dependable base for command line tools.',
    homepage: 'https://keel.example.com/',
    documentation: 'https://docs.example.com/keel',
    ...keelPlace,
    keywords: ['cli', 'arguments', 'configuration'],
    categories: ['command-line-interface'],
    readme: readme(KEEL_README, keelPlace),
    bin_names: ['keel'],
    rust_version: '1.85',
    deps: keelDependencies,
    features: {
      default: ['std'],
      std: ['rudder/std'],
      toml: ['dep:toml_edit', 'std'],
      colour: [],
      serde: ['dep:serde'],
    },
    previous: {
      version: '1.3.2',
      rust_version: '1.81',
      edition: '2021',
      license: 'MIT OR Apache-2.0',
      license_file: null,
      links: null,
      deps: [
        dependency('rudder', '^2.0', { features: ['derive'] }),
        dependency('old-colours', '^1'),
      ],
      features: { default: ['std'], std: [], toml: ['dep:toml_edit'] },
    },
  }),
  {
    owners: [
      { login: 'ada', name: 'Ada Byron' },
      { login: 'grace', name: null },
    ],
    versions: VERSIONS.map((number, at) => ({
      version: number,
      publishedAt: `2026-${String(11 - at).padStart(2, '0')}-02T09:30:00Z`,
      publishedBy: at % 3 === 0 ? 'ada' : 'grace',
      size: 48_213 - at * 3100,
      contents: null,
      rust_version: at < 1 ? '1.85' : at < 4 ? '1.81' : null,
      yanked: at === 2 || at === 7,
      license: at < 2 ? 'MIT OR Apache-2.0' : 'MIT',
      license_file: null,
      features: at < 3 ? { default: ['std'], std: [], toml: [] } : { default: ['std'], std: [] },
    })),
    dependents: [
      dependent('cargo-keel', '0.3.0', '^1.4'),
      { ...dependent('helm', '2.0.1', '^1'), optional: true },
      { ...dependent('harbour-tests', '0.1.0', '~1.3'), kind: 'dev' },
    ],
    dependentCount: 3,
    downloads: false,
  },
)

export const DESCRIPTIONS = [
  'Steering for state machines: typed transitions without macros.',
  'Reads and writes the log files of the billing system, with a stable format and exact decimal amounts for all currencies we support, including those without minor units.',
  'HTTP client with retries, timeouts and tracing built in.',
  'Feature flags, evaluated at the edge.',
  null,
  'Fixed-point geometry for maps.',
]

export const FLEET = 'rudder ledger harbour semaphore ballast chart-room bosun tide-table'.split(
  ' ',
)

function demoBlock(base: string, { api = true, private: required = false }: Partial<SiteConfig>) {
  const settings = { registry: { name: 'harbour' }, auth: { required }, upstream: {}, issuer: {} }
  const web = api ? 'auto' : 'none'
  const urls = registryUrls({ base_url: base, api: web, dl: 'auto', aliases: [] }, base)
  return cargoConfig(cargoSetup(settings, urls))
}

/** The facts of an invented registry at an address. */
export function demoConfig(base: string, more: Partial<SiteConfig> = {}): SiteConfig {
  return {
    base,
    dl: `${base}/crates`,
    packages: [],
    categories: [],
    cargoConfig: demoBlock(base, more),
    title: 'Harbour Crates',
    description: 'The Rust crates of the Harbour teams.',
    ...{ registry: 'harbour', docs: null, cratesIo: true, api: true, apiUrl: base },
    registries: [
      {
        index: 'sparse+https://crates.other.example/index/',
        title: 'Other Crates',
        page: 'https://crates.other.example/crates/{crate}/',
      },
    ],
    ...{ source: true, owners: true, feeds: true, downloads: true, upstreams: false },
    ...{ private: false, images: 'link', logo: null, stylesheet: null, links: [], footer: null },
    ...more,
  }
}
