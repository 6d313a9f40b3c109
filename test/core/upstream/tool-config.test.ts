import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { parse as parseToml } from 'smol-toml'
import { parse as parseYaml } from 'yaml'
import { cargoConfig, cargoSetup } from '../../../core/upstream/cargo-config.ts'
import { type Tool, toolConfigs } from '../../../core/upstream/tool-config.ts'
import { registryUrls } from '../../../core/urls/urls.ts'

const URLS = registryUrls(
  { base_url: 'https://crates.example/team', api: 'auto', dl: 'auto', aliases: [] },
  '',
)
const CRATES_IO = {
  name: 'crates-io',
  index: 'sparse+https://index.crates.io/',
  fallback: 'off',
}
const PARTNER = { ...CRATES_IO, name: 'partner', index: 'sparse+https://partner.example/index/' }

function setup(
  required: boolean,
  chosen: typeof CRATES_IO | null = CRATES_IO,
  audience: string | null = null,
) {
  const issuer = {
    lab: { kind: 'gitlab', audience: audience === null ? [] : [audience] },
    pods: { kind: 'kubernetes', audience: audience === null ? [] : [audience, 'other'] },
  } as const
  const settings = { registry: { name: 'team' }, auth: { required }, upstream: {}, issuer }
  return cargoSetup(settings, URLS, chosen)
}

/** A TOML document in objects as `assert` compares them. */
const plainToml = (document: string) => JSON.parse(JSON.stringify(parseToml(document)))

const text = (tool: Tool, required: boolean) => toolConfigs[tool](setup(required))

test('each tool has a text, and only a private registry has tokens in it', () => {
  const tools = Object.keys(toolConfigs) as Tool[]
  assert.equal(tools.length, 10)
  // Those that publish get a token for the time of the job.
  const jobs: readonly Tool[] = ['github-actions', 'forgejo', 'gitlab', 'gitlab-ci', 'kubernetes']
  for (const tool of tools)
    assert.doesNotMatch(
      text(tool, false),
      jobs.includes(tool) ? /secrets|masked|\[registry\]/ : /TOKEN|secret|\[registry\]/i,
      tool,
    )
  for (const tool of [...jobs, 'docker', 'renovate', 'dependabot'] as const)
    assert.match(text(tool, true), /CARGO_REGISTRIES_TEAM_CRATES_IO_TOKEN/, tool)
})

test('a job asks for a token with the `aud` that the settings want', () => {
  for (const [audience, wanted] of [
    [null, 'crates.example/team'],
    ['https://crates.example: "ours"', 'https://crates.example: "ours"'],
  ] as const) {
    const made = setup(false, null, audience)
    const lab = parseYaml(toolConfigs.gitlab(made)) as {
      publish: { id_tokens: Record<string, { aud: string }> }
    }
    assert.deepEqual(Object.values(lab.publish.id_tokens), [{ aud: wanted }])
    const asked = / audience: (.+)/.exec(toolConfigs.kubernetes(made))?.[1]
    assert.equal(parseYaml(asked ?? ''), wanted)
  }
})

test('Docker: the block is a file of the image, and tokens are secrets of the build alone', () => {
  const dockerfile = text('docker', true)
  const [, file] =
    /^COPY <<'END' \/usr\/local\/cargo\/config\.toml\n([\s\S]*?)^END$/m.exec(dockerfile) ?? []
  assert.equal(file, cargoConfig(setup(true)))
  const mount = (name: string) => `--mount=type=secret,id=${name},env=${name} `
  const mounts = ['CARGO_REGISTRIES_TEAM_TOKEN', 'CARGO_REGISTRIES_TEAM_CRATES_IO_TOKEN'].map(mount)
  assert.match(
    dockerfile,
    new RegExp(`^RUN ${mounts.join('')}cargo build --release --locked$`, 'm'),
  )
  assert.match(text('docker', false), /^# docker build \.\n[\s\S]*^RUN cargo build/m)
})

test('Renovate: a configuration with the host and the tokens', () => {
  const configOf = (required: boolean) => {
    const module = { exports: {} }
    const env = {
      CARGO_REGISTRIES_TEAM_TOKEN: 'a',
      CARGO_REGISTRIES_TEAM_CRATES_IO_TOKEN: 'b',
    }
    runInNewContext(text('renovate', required), { module, process: { env } })
    return { env, config: JSON.parse(JSON.stringify(module.exports)) }
  }
  const { env, config } = configOf(true)
  assert.deepEqual(config, {
    allowCustomCrateRegistries: true,
    hostRules: [{ hostType: 'crate', matchHost: 'https://crates.example/team/', token: 'a' }],
    customEnvVariables: env,
  })
  assert.deepEqual(configOf(false).config, { allowCustomCrateRegistries: true })
})

test('Dependabot: registries only where tokens are needed', () => {
  const update = (registries: object) => ({
    'package-ecosystem': 'cargo',
    directory: '/',
    schedule: { interval: 'weekly' },
    ...registries,
  })
  const registry = (name: string, path: string, variable: string) => ({
    type: 'cargo-registry',
    registry: name,
    url: `https://crates.example/team/${path}`,
    token: `\${{ secrets.${variable} }}`,
  })
  assert.deepEqual(parseYaml(text('dependabot', true)), {
    version: 2,
    registries: {
      team: registry('team', 'index/', 'CARGO_REGISTRIES_TEAM_TOKEN'),
      'team-crates-io': registry(
        'team-crates-io',
        'upstream/crates-io/index/',
        'CARGO_REGISTRIES_TEAM_CRATES_IO_TOKEN',
      ),
    },
    updates: [update({ registries: ['team', 'team-crates-io'] })],
  })
  assert.deepEqual(parseYaml(text('dependabot', false)), { version: 2, updates: [update({})] })
})

test('cargo-binstall and cargo-deny name the registry as Cargo does', () => {
  assert.match(text('cargo-binstall', true), /^cargo binstall --registry team NAME$/m)
  assert.match(
    text('cargo-binstall', false),
    /^cargo binstall --index sparse\+https:\/\/crates\.example\/team\/index\/ NAME$/m,
  )
  const allowed = ['https://github.com/rust-lang/crates.io-index', URLS.sparseIndex]
  const sources = { 'unknown-registry': 'deny', 'allow-registry': allowed }
  assert.deepEqual(plainToml(text('cargo-deny', true)), { sources })
  assert.deepEqual(plainToml(toolConfigs['cargo-deny'](setup(false, PARTNER))), {
    sources: { ...sources, 'allow-registry': [...allowed, PARTNER.index] },
  })
})
