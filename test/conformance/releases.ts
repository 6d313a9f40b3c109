import assert from 'node:assert/strict'
import type { Dependency } from '../../core/entry/entry.ts'
import { sha256 } from '../../core/sha256.ts'
import { cargoIsAtLeast } from '../support/cargo.ts'
import { pathOf } from '../support/index-path.ts'
import type { CrateText } from '../support/project.ts'
import { send } from '../support/raw-publish.ts'
import { dependency } from '../support/release.ts'
import { type Scenario, says } from './scenario.ts'
import type { Stage } from './stage.ts'

/** A release, and the parts of its line in the order of the index. */
interface Release extends CrateText {
  readonly deps?: readonly Dependency[]
  readonly features?: Readonly<Record<string, readonly string[]>>
  readonly more?: Readonly<Record<string, unknown>>
}

const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'
const BUILD = { 'build.rs': 'fn main() {}' }
const on = (name: string, more = '', version = '1') =>
  `${name} = { version = "${version}", registry = "test"${more} }`
const constant = (value: string) => ({ 'src/lib.rs': `pub const VALUE: u32 = ${value};` })

/** Releases that others need. */
const NEEDED: readonly Release[] = [
  { name: 'real', version: '0.1.0', files: constant('1') },
  { name: 'real', version: '0.2.0', files: constant('2') },
  {
    name: 'opt',
    package: 'rust-version = "1.56"',
    toml: '[features]\nloud = []',
    files: constant('if cfg!(feature = "loud") { 7 } else { 3 }'),
    features: { loud: [] },
    more: { rust_version: '1.56' },
  },
]

/** Dependencies of all kinds; `near` lies beside it and is published nowhere. */
function kinds(near: string): Release {
  // Cargo 1.65 leaves the feature of a dev-dependency that it strips.
  const [handy, strips] = cargoIsAtLeast(80) ? ['\nhandy = ["near/std"]', { handy: [] }] : ['', {}]
  return {
    name: 'kinds',
    toml: `
[dependencies]
alias = { package = "real", version = "0.1", registry = "test", default-features = false, optional = true }
newer = { package = "real", version = "0.2.0", registry = "test" }
${on('opt', '', '>=1.0, <2')}
[dev-dependencies]
near = { path = ${JSON.stringify(near)} }
real = { version = "~0.2", registry = "test" }
[target.'cfg(windows)'.dependencies]
${on('opt')}
[target.'cfg(not(target_os = "none"))'.build-dependencies]
${on('opt', '', '=1.0.0')}
[features]
old = ["alias"]${handy}
`,
    files: {
      'build.rs': 'fn main() { println!("cargo:rustc-env=WORD={}", opt::VALUE) }',
      'src/lib.rs':
        'pub const WORD: &str = env!("WORD");\npub const VALUE: u32 = newer::VALUE;\n#[cfg(feature = "old")]\npub const OLD: u32 = alias::VALUE;',
    },
    deps: [
      dependency('alias', '^0.1', { optional: true, default_features: false, package: 'real' }),
      dependency('newer', '^0.2.0', { package: 'real' }),
      dependency('opt', '>=1.0, <2'),
      dependency('opt', '^1', { target: 'cfg(windows)' }),
      dependency('opt', '=1.0.0', { kind: 'build', target: 'cfg(not(target_os = "none"))' }),
      dependency('real', '~0.2', { kind: 'dev' }),
    ],
    features: { ...strips, old: ['alias'] },
  }
}

/** Features of both syntaxes, and dependencies on two other registries. */
const elsewhere = (other: string): readonly Release[] => [
  {
    name: 'features',
    toml: `
[dependencies]
${on('opt', ', optional = true')}
${on('real', ', optional = true', '0.2')}
[features]
leads = ["nice"]
nice = ["dep:real"]
plain = []
loud = ["opt?/loud"]
`,
    files: {
      'src/lib.rs':
        '#[cfg(feature = "nice")]\npub use real::VALUE as real;\n#[cfg(feature = "opt")]\npub use opt::VALUE as opt;',
    },
    deps: [
      dependency('opt', '^1', { optional: true }),
      dependency('real', '^0.2', { optional: true }),
    ],
    features: { plain: [] },
    more: { features2: { leads: ['nice'], loud: ['opt?/loud'], nice: ['dep:real'] }, v: 2 },
  },
  {
    name: 'foreign',
    toml: '[dependencies]\nitoa = "1"\nfar = { version = "1", registry = "other" }',
    files: constant('far::VALUE + itoa::VALUE'),
    deps: [
      dependency('far', '^1', { registry: other }),
      dependency('itoa', '^1', { registry: CRATES_IO }),
    ],
  },
]

/** Releases of one crate whose lines have parts that are easily written wrong. */
const CURIOUS: readonly Release[] = [
  { version: '1.0.0', package: 'links = "native-1"', files: BUILD, more: { links: 'native-1' } },
  { version: '2.0.0-rc.1.x-y', package: 'keywords = ["a+b", "c_d"]' },
  { version: '3.0.0+build.7', package: 'homepage = "https://example.com/?a=\\"b\\"&c=<d>"' },
  {
    version: '4.0.0',
    toml: '[features]\n2018 = []\n"a+b.c-d" = ["2018"]\n"\u00f1" = ["2018"]',
    features: { '2018': [], 'a+b.c-d': ['2018'], '\u00f1': ['2018'] },
  },
  { version: '18446744073709551615.0.0' },
].map(release => ({ name: 'curious', ...release }))

/** Uses everything, and counts on its values. */
const SOURCE = `
const _: () = assert!(kinds::VALUE == 2 && kinds::OLD == 1 && kinds::WORD.len() == 1);
const _: () = assert!(features::real == 2 && features::opt == 7 && foreign::VALUE == 13);
`

export const releases: readonly Scenario[] = [
  {
    numbers: [1, 11, 12, 13, 21, 23, 24, 27, 43, 44],
    title: 'what Cargo publishes has its line, byte for byte, and Cargo builds with all of it',
    needs: [],
    usesCratesIo: true,
    async run(stage) {
      const other = await stage.otherRegistry()
      await other.publish(stage.cargo(), [stage.crate({ name: 'far', files: constant('6') })])
      const itoa = stage.crate({ name: 'itoa', files: constant('7') })
      await stage.cratesIo.publish(stage.cargo(), [itoa])
      const near = stage.crate({ name: 'near', toml: '[features]\nstd = []' }).folder
      const all = [...NEEDED, kinds(near), ...elsewhere(other.indexUrl), ...CURIOUS]
      const cargo = stage.cargo({ registries: { other: other.indexUrl } })
      const projects = all.map(release => stage.crate(release))
      await stage.registry.publish(cargo, projects)
      for (const name of new Set(all.map(({ name }) => name))) {
        const lines = all.filter(release => release.name === name).map(each => line(stage, each))
        const file = await stage.read(`/index/${pathOf(name)}`)
        const timeless = file.replaceAll(/,"pubtime":"[^"]{20}"/g, '')
        assert.equal(timeless, `200 ${(await Promise.all(lines)).join('')}`)
      }

      // The other registry has no name in this Cargo's configuration.
      const app = stage.app(
        [
          on('kinds', ', features = ["old"]'),
          on('features', ', features = ["leads", "loud", "opt"]'),
          on('foreign'),
          ...CURIOUS.map(({ version = '' }, at) => {
            const exact = version.replace(/\+.*/, '')
            return on(`curious${at}`, ', package = "curious"', `=${exact}`)
          }),
        ].join('\n'),
        SOURCE,
      )
      const checked = await stage.cargo({ env: other.cargoEnv ?? {} }).ok(app, 'check')
      for (const { version } of CURIOUS) says(checked, `curious v${version} (registry \`test\`)\n`)
      const weak = stage.app(on('features', ', features = ["loud"]'))
      const { stderr } = await stage.cargo().ok(weak, 'check')
      assert.doesNotMatch(stderr, /Checking (?:opt|real) /)
    },
  },
]

/** The line that a release must have, without the moment of publishing. */
async function line(stage: Stage, release: Release): Promise<string> {
  const { name, version = '1.0.0', deps = [], features = {}, more = {} } = release
  const { bytes } = await send('GET', stage.registry, `/crates/${name}/${name}-${version}.crate`)
  const head = { name, vers: version, deps, cksum: sha256(bytes), features, yanked: false }
  return `${JSON.stringify({ ...head, ...more })}\n`
}
