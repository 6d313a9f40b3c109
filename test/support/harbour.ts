import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseName } from '../../core/name.ts'
import { parseVersion } from '../../core/version.ts'
import { addUser } from '../../generator/accounts/accounts.ts'
import { upsert } from '../../generator/database/statement.ts'
import { operatorChange } from '../../generator/records/change.ts'
import { setYanked } from '../../generator/records/releases-changes.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { buildCrate } from './crate-builder.ts'
import { DESCRIPTIONS, FLEET, KEEL_README } from './demo-config.ts'
import { PAYLOADS } from './hostile.ts'
import { addSubmission, once } from './workplace.ts'

/** A release of the invented teams of the Harbour, as bytes. */
export interface HarbourRelease {
  readonly name: string
  readonly version: string
  readonly bytes: Uint8Array
  readonly at: string
  readonly by: string
  readonly yanked?: boolean
}

/** Text that means harm wherever it is not escaped; no quotes or lines that TOML would end at. */
const EVIL = `'><script>__hit=1</script><img src=x onerror=__hit=1>`

/** The same in characters that Cargo packages. */
const EVIL_NAME = `' onfocus='__hit=1' autofocus &lt;img src=x onerror=__hit=1&gt;`

/** The registry of the others, from which `keel` takes a crate. */
export const OTHER_CRATES =
  'Other Crates sparse+https://crates.other.example/index/ https://crates.other.example/crates/{crate}/'

const LIBRARY = `//! The base.

/* a comment
   over lines */
pub fn double(x: u32) -> u32 {
    x * 2 // twice
}
${Array.from({ length: 60 }, (_, at) => `pub const C${at}: &str = "<b>${at}</b>";`).join('\n')}
`

const KEEL_FILES = {
  'README.md': KEEL_README,
  'src/lib.rs': LIBRARY,
  'src/main.rs': 'fn main() {}\n',
  'src/deep/mod.rs': 'pub mod er;\n',
  'docs/index.html': '<p>an index page</p>\n',
  index: 'a file called index\n',
  'odd #name%3f.md': '# odd\n',
  "a b & 'c' &lt;i&gt;.txt": 'x\n',
  'logo.png': new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0]),
  '.cargo_vcs_info.json':
    '{"git":{"sha1":"0123456789abcdef0123456789abcdef01234567"},"path_in_vcs":"crates/keel"}\n',
}

/**
 * Every release, in the order of publication; `index` is the address of the registry's sparse
 * index.
 */
export function harbour(index: string): HarbourRelease[] {
  return [...fleet(index), ...keel(index), ...others()].sort((a, b) => (a.at < b.at ? -1 : 1))
}

function keel(index: string): HarbourRelease[] {
  const numbers = '0.9.3 0.9.4 1.0.0 1.1.0 1.2.0-rc.1 1.3.0 1.3.1 1.3.2 1.4.0'.split(' ')
  return numbers.map((version, at) => ({
    ...release({
      name: 'keel',
      version,
      manifest: keelManifest(version, at, index),
      files: KEEL_FILES,
    }),
    at: `2026-${String(at + 3).padStart(2, '0')}-02T09:30:00Z`,
    by: at % 3 === 0 ? 'ada' : 'grace',
    yanked: version === '1.3.1' || version === '0.9.4',
  }))
}

function keelManifest(version: string, at: number, index: string): string {
  const isNewest = version === '1.4.0'
  const own = `registry-index = "${index}"`
  return `[package]
name = "keel"
version = "${version}"
edition = "${isNewest ? '2024' : '2021'}"
${at > 4 ? `rust-version = "${isNewest ? '1.85' : '1.81'}"` : ''}
description = "A small, dependable base for command line tools."
license = "MIT OR Apache-2.0"
homepage = "https://keel.example.com/"
documentation = "https://docs.example.com/keel"
repository = "https://github.com/example/keel"
readme = "README.md"
keywords = ["cli", "arguments", "configuration"]
categories = ["command-line-interface"]
authors = ["Ada Byron"]

[lib]
path = "src/lib.rs"

[[bin]]
name = "keel"
path = "src/main.rs"

[features]
default = ["std"]
std = [${isNewest ? '"rudder/std"' : ''}]
toml = ["dep:toml_edit"${isNewest ? ', "std"' : ''}]
${isNewest ? 'colour = []\nserde = ["dep:serde"]' : ''}

[dependencies.rudder]
version = "${isNewest ? '^2.1' : '^2.0'}"
features = ["derive"]
${own}

[dependencies.toml_edit]
version = "^0.22"
optional = true
package = "toml-edit-fork"
${own}
${
  isNewest
    ? `
[dependencies.serde]
version = "^1.0.200"
optional = true
default-features = false
features = ["derive", "std"]

[dependencies.billing-core]
version = "^3"
registry-index = "sparse+https://crates.other.example/index/"

[target."cfg(windows)".dependencies.winapi-lite]
version = "^0.4"

[build-dependencies.bindings]
version = "^0.9"

[dev-dependencies.insta-lite]
version = "^1"
`
    : `
[dependencies.old-colours]
version = "^1"
`
}`
}

function fleet(index: string): HarbourRelease[] {
  const names = [...FLEET, 'helm', 'toml-edit-fork']
  return names.map((name, at) => ({
    ...release({
      name,
      version: numberOf(name, at),
      manifest: `[package]
name = "${name}"
version = "${numberOf(name, at)}"
edition = "2021"
description = "${DESCRIPTIONS[at % DESCRIPTIONS.length] ?? ''}"
license = "MIT"
readme = "README.md"
keywords = ${at % 2 === 0 ? '["billing", "logs"]' : '["maps"]'}
${name === 'rudder' ? '[features]\nstd = []\nderive = []' : ''}
${at > 5 && at < 9 ? `[${at === 6 ? 'dev-dependencies' : 'dependencies'}.keel]\nversion = "^1"\noptional = ${at === 7}\nregistry-index = "${index}"` : ''}
`,
      files: {
        'src/lib.rs': `//! ${name}\n`,
        'README.md': `# ${name}\n\nSee [keel](https://keel.example.com/).\n`,
      },
    }),
    // The dependencies of `keel` must be there before it.
    at:
      name in NUMBERS
        ? '2026-01-05T08:00:00Z'
        : `2026-11-${String(18 - at).padStart(2, '0')}T08:00:00Z`,
    by: at % 2 === 0 ? 'ada' : 'grace',
    yanked: name === 'ballast',
  }))
}

const NUMBERS: Readonly<Record<string, string>> = { rudder: '2.1.0', 'toml-edit-fork': '0.22.4' }

function numberOf(name: string, at: number): string {
  return NUMBERS[name] ?? `${at % 3}.${at + 1}.${at * 2}`
}

function others(): HarbourRelease[] {
  const part = (at: number) =>
    `## Part ${at}\n\nText of \`part${at}\`.\n\n\`\`\`rust\nfn part${at}() {}\n\`\`\`\n`
  const long = `# Long\n\n${Array.from({ length: 400 }, (_, at) => part(at)).join('\n')}`
  const manifest = `[package]
name = "long-readme"
version = "1.0.0"
edition = "2021"
description = "A README that does not end."
license = "MIT"
readme = "README.md"
`
  const evil = `[package]
name = "hostile"
version = "1.0.0"
edition = "2021"
description = "${EVIL} \\u202e reversed ${'very'.repeat(60)}"
license = "${EVIL}"
homepage = "javascript:__hit=1"
documentation = "https://docs.example/${EVIL}"
repository = "data:text/html,<script>__hit=1</script>"
authors = ["${EVIL}"]
readme = "README.md"

[features]
constructor = []

[target."cfg(target_os = \\"${EVIL}\\")".dependencies.evil]
version = "^1"
registry-index = "https://evil.example/index"
`
  const files = {
    'src/lib.rs': `// ${EVIL}\n`,
    'README.md': PAYLOADS.join('\n\n'),
    [`src/${EVIL_NAME}.rs`]: EVIL,
  }
  return [
    {
      ...release({ name: 'long-readme', version: '1.0.0', manifest, files: { 'README.md': long } }),
      at: '2026-02-01T00:00:00Z',
      by: 'grace',
    },
    {
      ...release({ name: 'hostile', version: '1.0.0', manifest: evil, files }),
      at: '2026-02-02T00:00:00Z',
      by: 'grace',
    },
  ]
}

function release(
  parts: Parameters<typeof buildCrate>[0],
): Pick<HarbourRelease, 'name' | 'version' | 'bytes'> {
  return { name: parts.name, version: parts.version, bytes: buildCrate(parts) }
}

/** Publishes every release at its time, by its people; the pages are the caller's to build. */
export async function fillRegistry(
  registry: Registry,
  releases: readonly HarbourRelease[],
): Promise<void> {
  const users = new Map<string, { id: number; admin: boolean }>()
  for (const login of new Set(releases.map(release => release.by))) {
    users.set(
      login,
      await addUser(
        registry.database,
        { login, admin: login === 'ada' },
        operatorChange('2026-01-01T00:00:00Z'),
      ),
    )
  }
  for (const { name, version, bytes, at, by, yanked } of releases) {
    const user = users.get(by)
    if (!user) throw new Error(`${by} was not added`)
    const who = { who: 'user', user, tokenId: null, stillMay: async () => user } as const
    const change = { at, actor: by, ...who }
    const staged = await registry.crates.stage(once(bytes), bytes.length)
    try {
      const { crate } = await addSubmission(registry, { bytes: staged, pubtime: at }, change)
      for (const { id } of users.values()) {
        const row = { crate_id: crate.id, user_id: id, added_at: at }
        await upsert(registry.database, 'owners', ['crate_id', 'user_id'], row)
      }
    } finally {
      await staged.discard()
    }
    if (yanked) await setYanked(registry, parseName(name), parseVersion(version), true, change)
  }
}

/**
 * Writes every release as a `.crate` file into a folder, with the settings of a static tree at
 * `base`.
 */
export function writeCrates(
  folder: string,
  releases: readonly HarbourRelease[],
  base: string,
): void {
  mkdirSync(folder, { recursive: true })
  for (const { name, version, bytes } of releases)
    writeFileSync(join(folder, `${name}-${version}.crate`), bytes)
  const yanked = releases
    .filter(release => release.yanked)
    .map(release => `"${release.name}@${release.version}"`)
  writeFileSync(
    join(folder, 'plimsoll.toml'),
    `yanked = [${yanked.join(', ')}]\n\n[registry]\nbase_url = "${base}"\nname = "harbour"\ntitle = "Harbour Crates"\ndescription = "The Rust crates of the Harbour teams."\n\n[pages]\nregistries = ["${OTHER_CRATES}"]\n`,
  )
}
