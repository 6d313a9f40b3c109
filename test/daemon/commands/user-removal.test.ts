// Mirrors daemon/commands/user.ts
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { publishTo } from '../../support/release.ts'
import { RemoteBrowser } from '../../support/remote-browser.ts'
import { refuses, type ServedFolder, servedFolder } from '../../support/served-folder.ts'

const PUBLIC = { PLIMSOLL_OWNERS_PUBLIC: 'true', PLIMSOLL_ISSUER_GITHUB_REUSE: 'false' }
const PASSWORD = 'correct horse battery'

/** A daemon with the user alice, who has published `alpha`, and bob. */
async function withAlice(t: Parameters<typeof servedFolder>[0]) {
  const folder = await servedFolder(t, PUBLIC)
  assert.equal((await folder.run(['user', 'add', 'alice', '--password-stdin'], PASSWORD)).code, 0)
  await folder.ok('user', 'add', 'bob')
  const alice = await folder.ok('token', 'create', '--user', 'alice')
  const release = { name: 'alpha', version: '1.0.0' }
  assert.equal((await publishTo(folder.url, alice, release)).status, 200)
  await folder.ok('build')
  return { folder, alice, release }
}

/** The publisher of `alpha` on its page, in its record and in the feed; whose pages there are. */
function shown({ dir }: ServedFolder, logins: readonly string[]) {
  const read = (path: string) => readFileSync(join(dir, 'public', path), 'utf8')
  const record = JSON.parse(read('crates/alpha/crate.json'))
  const [, page = ''] =
    /Published by<\/dt><dd>(?:<a [^>]*>)?([^<]*)/.exec(read('crates/alpha/1.0.0/index.html')) ?? []
  const [, feed = ''] =
    /<author><name>([^<]*)<\/name><\/author>\n<link rel="alt/.exec(read('feeds/updates.xml')) ?? []
  const pages = logins.filter(login => existsSync(join(dir, 'public', 'users', login)))
  return { names: [record.versions[0].published_by, page, feed], pages }
}

const GONE = (login: string) =>
  `the user \`${login}\` was removed or renamed, and the name stays taken; \`plimsoll user list\` has the users`

test('a renamed user goes on with tokens and password, and pages name them anew', async t => {
  const { folder, alice, release } = await withAlice(t)
  assert.deepEqual(shown(folder, ['alice', 'ada']), {
    names: Array(3).fill('alice'),
    pages: ['alice'],
  })
  assert.equal(await folder.ok('user', 'rename', 'ALICE', 'Ada'), 'renamed alice to Ada')
  assert.deepEqual(shown(folder, ['alice', 'ada']), { names: Array(3).fill('Ada'), pages: ['ada'] })
  assert.equal((await publishTo(folder.url, alice, { ...release, version: '1.1.0' })).status, 200)
  assert.equal((await new RemoteBrowser(folder.url).logIn('ada', PASSWORD)).status, 303)
  await refuses(folder, [
    [['user', 'add', 'alice'], 1, GONE('alice')],
    [['user', 'rename', 'bob', 'Alice'], 1, GONE('Alice')],
    [['user', 'lock', 'alice'], 1, GONE('alice')],
    [['user', 'rename', 'bob', 'ADA'], 1, 'the user `ADA` already exists; nothing was changed'],
    [['user', 'rename', 'ada', 'Ada'], 1, 'the user `Ada` already exists; nothing was changed'],
    [['user', 'rename', 'bob', 'two words'], 2, /cannot be a username/],
  ])
  assert.equal(await folder.ok('user', 'rename', 'ada', 'alice'), 'renamed Ada to alice')
  assert.deepEqual(shown(folder, ['alice', 'ada']).pages, ['alice'])
  assert.match(await folder.ok('audit', '--action', 'user-rename'), /before alice[\s\S]*before Ada/)
})

test('a removed user has no rights left; the name stays taken, and pages say so', async t => {
  const { folder, alice, release } = await withAlice(t)
  const browser = new RemoteBrowser(folder.url)
  await browser.logIn('alice', PASSWORD)
  await refuses(folder, [
    [['user', 'remove', 'alice', '--yes'], 1, /`alice` is the only owner of `alpha`, so nothing/],
    [['user', 'remove', 'admin', '--yes'], 1, /`admin` is the last administrator; make another/],
  ])
  const owner = { method: 'PUT', headers: { authorization: alice }, body: '{"users":["bob"]}' }
  assert.equal((await fetch(`${folder.url}/api/v1/crates/alpha/owners`, owner)).status, 200)
  // A rule that she wrote as an owner stays, and she is named before she is gone.
  const github_config = {
    ...{ crate: 'alpha', repository_owner: 'acme', repository_name: 'alpha' },
    workflow_filename: 'x.yml',
  }
  const forCi = ['token', 'create', '--user', 'alice', '--scope', 'trusted-publishing']
  const written = await fetch(`${folder.url}/api/v1/trusted_publishing/github_configs`, {
    method: 'POST',
    headers: { authorization: await folder.ok(...forCi), 'content-type': 'application/json' },
    body: JSON.stringify({ github_config }),
  })
  assert.equal(written.status, 200)
  const asked = await folder.run(['user', 'remove', 'alice'])
  assert.deepEqual(asked, {
    code: 1,
    stdout:
      'would remove alice: 2 tokens revoked, 1 crate given up\n' +
      'rule 1 (github: repository=acme/alpha workflow=x.yml) for alpha stays until `plimsoll trust remove`\n',
    stderr: 'error: nobody was removed; add --yes to remove them for good\n',
  })
  assert.equal(await browser.isLoggedIn(), true)
  assert.deepEqual(JSON.parse(await folder.ok('user', 'remove', 'alice', '--yes', '--json')), {
    login: 'alice',
    crates: ['alpha'],
    tokens: 2,
    rules: ['rule 1 (github: repository=acme/alpha workflow=x.yml) for alpha'],
    removed: true,
  })
  assert.equal(await browser.isLoggedIn(), false)
  assert.equal((await new RemoteBrowser(folder.url).logIn('alice', PASSWORD)).status, 403)
  assert.equal((await publishTo(folder.url, alice, { ...release, version: '1.1.0' })).status, 403)
  assert.deepEqual(shown(folder, ['alice', 'bob']), {
    names: Array(3).fill('alice (removed)'),
    pages: ['bob'],
  })
  assert.match(await folder.ok('user', 'list'), /^alice +user +removed /m)
  await refuses(folder, [
    ...['add', 'unlock', 'promote', 'link', 'remove'].map(
      verb => [['user', verb, 'Alice'], 1, GONE('Alice')] as const,
    ),
    [['token', 'create', '--user', 'alice'], 1, GONE('alice')],
  ])
  const bob = await folder.ok('token', 'create', '--user', 'bob')
  const again = { ...owner, headers: { authorization: bob }, body: '{"users":["alice"]}' }
  const refused = await fetch(`${folder.url}/api/v1/crates/alpha/owners`, again)
  assert.match(await refused.text(), /there is no user `alice` here/)
  assert.match(await folder.ok('audit', '--action', 'user-remove'), /alice/)
  assert.match(await folder.ok('audit', '--crate', 'alpha'), /owner-remove +alpha +login alice$/m)
})
