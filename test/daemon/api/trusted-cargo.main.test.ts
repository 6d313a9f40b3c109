// Mirrors daemon/api/trusted.ts: real Cargo and made-up issuers
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import type { IssuerKind } from '../../../core/settings/issuer.ts'
import { cargoSetup } from '../../../core/upstream/cargo-config.ts'
import { toolConfigs } from '../../../core/upstream/tool-config.ts'
import { exchangeScript } from '../../../core/upstream/trusted-config.ts'
import { registryUrls } from '../../../core/urls/urls.ts'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { run } from '../../support/command.ts'
import { MadeUpIssuer } from '../../support/made-up-issuer.ts'
import { plimsollHere } from '../../support/program.ts'
import { writeProject } from '../../support/project.ts'
import { scratch } from '../../support/scratch.ts'
import { servedFolder } from '../../support/served-folder.ts'
import { JOBS, RULES } from '../../support/trusted-jobs.ts'

const KINDS = Object.keys(JOBS) as IssuerKind[]
const TOKEN = 'CARGO_REGISTRIES_PLIMSOLL_TOKEN'

/** The lines of a job in the files of GitLab or Kubernetes, as its shell gets them. */
function scriptOf(text: string, name: 'build' | 'publish'): string {
  for (const document of parseAllDocuments(text)) {
    const read = document.toJS()
    if (read[name]) return [...read[name].before_script, ...read[name].script].join('\n')
    const [container] = read.metadata?.name === name ? read.spec.template.spec.containers : []
    if (container) return container.args.join('\n')
  }
  return assert.fail(name)
}

test('jobs of six CI systems publish a new crate and a new version with real Cargo, and without a stored token', async t => {
  const issuers = new Map<IssuerKind, MadeUpIssuer>()
  const env: Record<string, string> = { PLIMSOLL_AUTH_REQUIRED: 'true' }
  for (const kind of KINDS) {
    const issuer = await MadeUpIssuer.start(t)
    issuer.now = new Date()
    issuers.set(kind, issuer)
    Object.assign(env, issuer.settings(kind, kind))
  }
  env.PLIMSOLL_ISSUER_OTHER_SHARED = 'false'
  const served = await servedFolder(t, env)
  await served.ok('user', 'add', 'alice')
  const folder = scratch(new Cleanup(t))
  const { url } = served
  const cargoWith = (token: string) =>
    new Cargo(join(folder, token), {
      registries: { plimsoll: `sparse+${url}/index/` },
      cratesIo: 'sparse+http://127.0.0.1:9/',
      config: '[registry]\nglobal-credential-providers = ["cargo:token"]\n',
      env: { [TOKEN]: token },
    })
  const aud = url.replace('http://', '')
  for (const kind of KINDS) {
    const name = `of-${kind}`
    const claims = RULES[kind].flatMap(claim => ['--claim', claim])
    await served.ok('trust', 'add', name, '--issuer', kind, ...claims, '--owner', 'alice')
    const jwt = await issuers.get(kind)?.sign({ ...JOBS[kind], aud })
    const exchanged = await plimsollHere(
      ['token', 'exchange', '--jwt-env', 'ID', '--registry', url],
      {
        ID: jwt,
        GITHUB_ACTIONS: String(kind === 'github'),
      },
    )
    assert.equal(exchanged.code, 0, exchanged.stderr)
    const token = exchanged.stdout.trim()
    assert.equal(exchanged.stderr, kind === 'github' ? `::add-mask::${token}\n` : '')
    for (const version of ['0.1.0', '0.2.0']) {
      const project = writeProject(join(folder, `${name}-${version}`), { name, version })
      await cargoWith(token).ok(project.folder, 'publish', '--registry', 'plimsoll', '--no-verify')
    }
  }
  const list = JSON.parse(await served.ok('trust', 'list', '--json'))
  assert.equal(list.length, 6)
  for (const { used, owner } of list) assert.ok(used !== null && owner === 'alice')

  // The jobs that `plimsoll config --for …` prints, from their first line to their last.
  const gitlab = issuers.get('gitlab')
  const settings = {
    registry: { name: 'plimsoll' },
    auth: { required: true },
    upstream: {},
    issuer: {},
  }
  const upstream = { name: 'crates-io', index: 'sparse+http://127.0.0.1:9/', fallback: 'off' }
  const urls = registryUrls({ base_url: url, api: 'auto', dl: 'auto', aliases: [] }, url)
  const setup = cargoSetup(settings, urls, upstream)
  assert.ok(exchangeScript(setup).length <= 6)
  const reading = (await served.ok('token', 'create', '--user', 'alice', '--scope', 'read')).trim()
  let played = 0
  const play = async (tool: 'gitlab' | 'kubernetes', more: Record<string, unknown> = {}) => {
    const version = `1.${++played}.0`
    const jwt = await issuers.get(tool)?.sign({ ...JOBS[tool], aud, version, ...more })
    const project = writeProject(join(folder, `${tool}-${version}`), {
      name: `of-${tool}`,
      version,
    })
    writeFileSync(join(project.folder, 'id-token'), jwt ?? '')
    const job = async (name: 'build' | 'publish', env: Record<string, string>) => {
      const script = scriptOf(toolConfigs[tool](setup), name)
        .replace('cargo publish', 'cargo publish --no-verify')
        .replace('cargo build --locked', 'cargo search keel --registry plimsoll')
        .replace('/var/run/plimsoll/token', 'id-token')
      const home = cargoWith(`${tool}-${name}-${version}`).home
      writeFileSync(join(home, 'config.toml'), '')
      const { CARGO_HOME: _, ...rest } = process.env
      return run('sh', ['-ec', script], {
        cwd: project.folder,
        env: { ...rest, CARGO_HOME: home, ...env },
      })
    }
    const build = await job('build', { [TOKEN]: reading })
    assert.equal(build.code, 0, `${tool}: ${build.stderr}`)
    return job('publish', { PLIMSOLL_ID_TOKEN: tool === 'gitlab' ? (jwt ?? '') : '' })
  }
  for (const tool of ['gitlab', 'kubernetes'] as const) {
    const { code, stderr } = await play(tool)
    assert.equal(code, 0, `${tool}: ${stderr}`)
  }
  const audit = await served.ok('audit', '--json', '--action', 'publish')
  assert.equal(JSON.parse(audit).length, 14)
  const refused = await play('gitlab', { ref: 'side' })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /`ref` was `side`, and rule \d+ wants `main`/)

  // What the rules say of a token is explained without using it up.
  const path = join(folder, 'token.txt')
  writeFileSync(path, (await gitlab?.sign({ ...JOBS.gitlab, aud, ref: 'side' })) ?? '')
  const explained = await served.run([
    'trust',
    'test',
    '--jwt',
    path,
    '--crate',
    'of-gitlab',
    '--audience',
    aud,
  ])
  assert.equal(explained.code, 1)
  assert.match(
    explained.stdout,
    /^rule 3 for of-gitlab does not: `ref` is side, not main\nThe signature of the token was not checked\.$/m,
  )
})
