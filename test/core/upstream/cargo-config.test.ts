import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { cargoConfig, cargoSetup } from '../../../core/upstream/cargo-config.ts'
import { registryUrls } from '../../../core/urls/urls.ts'

/** The block of a registry with these settings, and with an upstream at its own address. */
function block(toml: string, chosen?: string): string {
  const own = '[registry]\nname = "team"\nbase_url = "https://crates.example"\n'
  const { settings } = resolveSettings({ file: { name: 'f', text: own + toml } })
  const upstream = chosen === undefined ? null : (settings.upstream[chosen] ?? null)
  return cargoConfig(cargoSetup(settings, registryUrls(settings.registry, ''), upstream))
}

test('the block of a public registry, in full', () => {
  assert.equal(
    block(''),
    `# For .cargo/config.toml in a project, or in your home folder:
# \`cargo install\` reads only that one.
[registries.team]
index = "sparse+https://crates.example/index/"
# With \`registry.global-min-publish-age\`, for which Cargo 1.100 is needed,
# this line lets crates from here be used at once:
# min-publish-age = "0"

# With \`publish = ["team"]\` in a Cargo.toml, \`cargo publish\` publishes
# here, and nowhere else.
`,
  )
})

const PARTNER = 'sparse+https://partner.example/index/'
const TEAM = { index: 'sparse+https://crates.example/index/' }
const MIRROR = { index: 'sparse+https://crates.example/upstream/crates-io/index/' }
const PRIVATE = '[auth]\nrequired = true\n'

test('every way to set up a registry has the tables that Cargo needs, and no default', () => {
  const cratesIo = '[upstream.crates-io]\n'
  const serving = `${cratesIo}fallback = "redirect"\n`
  const copy = '[upstream.crates-io]\nindex = "sparse+https://mirror.example/index/"\n'
  const partner = `[upstream.partner]\nindex = "${PARTNER}"\n`
  const rows: [toml: string, chosen: string | undefined, tables: object][] = [
    ['', undefined, { registries: { team: TEAM } }],
    [cratesIo, undefined, { registries: { team: TEAM } }],
    [
      PRIVATE,
      undefined,
      {
        registries: { team: TEAM },
        registry: { 'global-credential-providers': ['cargo:token'] },
      },
    ],
    [
      serving,
      undefined,
      { registries: { team: TEAM }, source: { 'crates-io': { 'replace-with': 'team' } } },
    ],
    ...[cratesIo, serving, copy].map((toml): [string, string, object] => [
      toml,
      'crates-io',
      {
        registries: { team: TEAM, 'team-crates-io': MIRROR },
        source: { 'crates-io': { 'replace-with': 'team-crates-io' } },
      },
    ]),
    [
      `${partner}fallback = "serve"\n`,
      undefined,
      {
        registries: { team: TEAM },
        source: {
          [PARTNER]: { registry: PARTNER, 'replace-with': 'team' },
        },
      },
    ],
  ]
  for (const [toml, chosen, tables] of rows)
    assert.deepEqual(JSON.parse(JSON.stringify(parse(block(toml, chosen)))), tables)
})

test('remarks: tokens by registry, other upstreams, publishing only with a web API', () => {
  const both = block(`${PRIVATE}[upstream.crates-io]\n`, 'crates-io')
  assert.match(both, /^# `cargo login --registry team` or CARGO_REGISTRIES_TEAM_TOKEN$/m)
  assert.match(
    both,
    /^# `cargo login --registry team-crates-io` or CARGO_REGISTRIES_TEAM_CRATES_IO_TOKEN$/m,
  )
  assert.doesNotMatch(both, /plimsoll config/)
  assert.match(
    block('[upstream.crates-io]\n'),
    /^# `plimsoll config --with crates-io` has the crates of `crates-io` come from here, too\.$/m,
  )
  assert.doesNotMatch(block('api = "none"\n'), /publish =/)
})
