// Mirrors daemon/api/trusted.ts: real Cargo and made-up issuers
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { IssuerKind } from '../../../core/settings/issuer.ts'
import { cargoSetup } from '../../../core/upstream/cargo-config.ts'
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

  // The lines that `plimsoll config --for gitlab` prints.
  const settings = { registry: { name: 'plimsoll' }, auth: { required: true }, upstream: {} }
  const urls = registryUrls({ base_url: url, api: 'auto', dl: 'auto', aliases: [] }, url)
  const lines = exchangeScript(cargoSetup(settings, urls))
  assert.ok(lines.length <= 6)
  const script = lines.join('\n').replace('cargo publish', 'cargo publish --no-verify')
  const project = writeProject(join(folder, 'by-curl'), { name: 'of-gitlab', version: '0.3.0' })
  const home = cargoWith('curl').home
  const play = async (jwt: string | undefined) =>
    run('sh', ['-ec', script], {
      cwd: project.folder,
      env: { ...process.env, CARGO_HOME: home, PLIMSOLL_ID_TOKEN: jwt },
    })
  const gitlab = issuers.get('gitlab')
  const played = await play(await gitlab?.sign({ ...JOBS.gitlab, aud }))
  assert.equal(played.code, 0, played.stderr)
  const audit = await served.ok('audit', '--json', '--action', 'publish')
  assert.equal(JSON.parse(audit).length, 13)
  const refused = await play(await gitlab?.sign({ ...JOBS.gitlab, aud, ref: 'side' }))
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
