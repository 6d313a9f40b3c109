import { CRATES_IO } from '../index-url.ts'
import {
  type CargoSetup,
  cargoConfig,
  isOfCratesIo,
  tokensOf,
  tokenVariable,
} from './cargo-config.ts'
import { actionJob, gitlabJob, kubernetesJobs } from './trusted-config.ts'

/** What tools besides Cargo need to use a registry, in the language of their files. */
export const toolConfigs = {
  'github-actions': (setup: CargoSetup) => actions(setup, false),
  forgejo: (setup: CargoSetup) => actions(setup, true),
  gitlab: gitlabCi,
  'gitlab-ci': gitlabCi,
  kubernetes: (setup: CargoSetup) => kubernetesJobs(setup, appendScript(setup, ' '.repeat(14))),
  docker,
  renovate,
  dependabot,
  'cargo-binstall': binstall,
  'cargo-deny': deny,
} satisfies Readonly<Record<string, (setup: CargoSetup) => string>>

export type Tool = keyof typeof toolConfigs

function appendScript(setup: CargoSetup, indent: string): string {
  const home = `\${CARGO_HOME:-$HOME/.cargo}`
  const script = `mkdir -p "${home}"
cat >> "${home}/config.toml" <<'END'
${cargoConfig(setup)}END
`
  return script.replace(/^(?=.)/gm, indent)
}

function actions(setup: CargoSetup, isForgejo: boolean): string {
  const tokens = tokensOf(setup).map(name => `      ${name}: \${{ secrets.${name} }}\n`)
  const env = tokens.length > 0 ? `    env:\n${tokens.join('')}` : ''
  const configure = `      - name: Configure Cargo
        run: |
${appendScript(setup, ' '.repeat(10))}`
  return `# .${isForgejo ? 'forgejo' : 'github'}/workflows/build.yml
name: build
on: [push, pull_request]
jobs:
  build:
    runs-on: ${isForgejo ? 'docker' : 'ubuntu-latest'}
${env}    steps:
      - uses: actions/checkout@v7
${configure}      - run: cargo build --locked
${actionJob(setup, configure, isForgejo)}`
}

function gitlabCi(setup: CargoSetup): string {
  const tokens = tokensOf(setup).map(name => `# Add the masked CI/CD variable ${name}.\n`)
  const configure = `    - |
${appendScript(setup, ' '.repeat(6))}`
  return `# .gitlab-ci.yml
${tokens.join('')}build:
  image: rust:1
  before_script:
${configure}  script:
    - cargo build --locked
${gitlabJob(setup, configure)}`
}

function docker(setup: CargoSetup): string {
  const tokens = tokensOf(setup)
  const secrets = tokens.map(name => ` --secret id=${name},env=${name}`)
  const mounts = tokens.map(name => `--mount=type=secret,id=${name},env=${name} `)
  return `# syntax=docker/dockerfile:1
# docker build${secrets.join('')} .
FROM rust:1
COPY <<'END' /usr/local/cargo/config.toml
${cargoConfig(setup)}END
WORKDIR /src
COPY . .
RUN ${mounts.join('')}cargo build --release --locked
`
}

function renovate(setup: CargoSetup): string {
  const tokens = tokensOf(setup)
  const variables = tokens.map(name => `    ${name}: process.env.${name},\n`)
  const secrets = `  hostRules: [
    { hostType: 'crate', matchHost: '${setup.base}/', token: process.env.${tokens[0]} },
  ],
  customEnvVariables: {\n${variables.join('')}  },\n`
  return `// config.js of a Renovate that you run: the hosted one asks crates.io only. It finds
// the registry in .cargo/config.toml of the repository, where the block of
// \`plimsoll config\` has to be.
module.exports = {
  allowCustomCrateRegistries: true,
${setup.isPrivate ? secrets : ''}}
`
}

function dependabot(setup: CargoSetup): string {
  const registries = setup.isPrivate ? setup.registries : []
  const tables = registries.map(
    registry => `  ${registry.name}:
    type: cargo-registry
    registry: ${registry.name}
    url: ${registry.index.slice('sparse+'.length)}
    token: \${{ secrets.${tokenVariable(registry)} }}
`,
  )
  const names = registries.map(({ name }) => name).join(', ')
  return `# .github/dependabot.yml; the block of \`plimsoll config\` has to be in .cargo/config.toml.
version: 2
${tables.length > 0 ? `registries:\n${tables.join('')}` : ''}updates:
  - package-ecosystem: cargo
    directory: /
    schedule:
      interval: weekly
${names === '' ? '' : `    registries: [${names}]\n`}`
}

function binstall({ own, isPrivate }: CargoSetup): string {
  return `# The block of \`plimsoll config\` has to be in ~/.cargo/config.toml: cargo-binstall reads no other.
cargo binstall --registry ${own.name} NAME
${isPrivate ? '' : `# Without any configuration:\ncargo binstall --index ${own.index} NAME\n`}`
}

function deny({ own, replaced }: CargoSetup): string {
  const other = replaced && !isOfCratesIo(replaced.upstream) ? [replaced.upstream.index] : []
  const indexes = [CRATES_IO, own.index, ...other].map(index => `  "${index}",\n`)
  return `# deny.toml; crates of a replaced source count as those of that source, as in Cargo.lock.
[sources]
unknown-registry = "deny"
allow-registry = [
${indexes.join('')}]
`
}
