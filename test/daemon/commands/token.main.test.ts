import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../../support/plimsoll.ts'
import { publishTo } from '../../support/release.ts'
import { refuses, servedFolder } from '../../support/served-folder.ts'
import { until } from '../../support/until.ts'

const LOCKED = '`carol` is locked; unlock the account first'
const READ_LIMITED =
  'a token for certain crates cannot have the permission `read`, which is for the whole registry; leave one of them out, and keep crates that only some people may read in a registry of their own'
const DURATION = 'is not a duration; write for example 90d, 12h, 30m or 10s'
const SCOPES =
  'is not a scope; the scopes are publish-new, publish-update, yank, change-owners, read, trusted-publishing'
const PATTERN = 'matches no crate; write a crate name, or the start of one followed by `*`'

/** What a daemon says to a publish with a token. */
async function publish(url: string, token: string, name: string): Promise<string> {
  const response = await publishTo(url, token, { name, version: '1.0.0' })
  const { errors = [] } = (await response.json()) as { errors?: { detail: string }[] }
  return `${response.status} ${errors.map(error => error.detail).join(', ')}`.trim()
}

test('a token made beside a running daemon works at once, as far as it reaches; a revoked one stops at once', async t => {
  const folder = await servedFolder(t, {}, serve)
  const { url, ok } = folder
  await ok('user', 'add', 'alice')
  const token = await ok('token', 'create', '--user', 'ALICE')
  assert.match(token, /^plim_[0-9A-Za-z]{38}$/)
  assert.equal(await publish(url, token, 'alpha'), '200')
  const scopes = ['--scope', 'yank', '--scope', 'publish-new', '--scope', 'yank']
  const options = ['--name', 'ci', ...scopes, '--crate', 'alpha-*']
  const narrow = await ok('token', 'create', '--user', 'alice', ...options, '--expires', '1s')
  // Its second begins when the command makes it; the listing does not depend on the clock of the test.
  const { created, expires, ...rest } = JSON.parse(await ok('token', 'list', '--json'))[2]
  assert.deepEqual(rest, {
    id: 3,
    name: 'ci',
    user: 'alice',
    scopes: ['publish-new', 'yank'],
    crates: ['alpha-*'],
    last_used: null,
  })
  assert.equal(Date.parse(expires) - Date.parse(created), 1000)
  const rejected = `403 this token is not valid: it is unknown or revoked; ${url}/me says how to get a new one`
  await until(() => new Date().toISOString() > expires, 'time stands still')
  assert.match(
    await publish(url, narrow, 'alpha-one'),
    /^403 this token expired on \d+ \w+ 20\d\d; /,
  )
  assert.equal(await ok('token', 'revoke', '2'), 'revoked 2')
  assert.equal(await publish(url, token, 'beta'), rejected)
  const limited = await ok('token', 'create', '--user', 'alice', ...options)
  assert.match(await publish(url, limited, 'other'), /^403 .*`other`/)
  assert.equal(await publish(url, limited, 'Alpha_Two'), '200')
  assert.match(
    await ok('token', 'list'),
    /^id {2}user {3}name {9}scopes {12}crates {3}expires {23}last used\n1 {3}admin {2}first start {2}all {15}all {6}never {25}never\n3 {3}alice {2}ci {11}publish-new yank {2}alpha-\* {2}expired \S+Z {2}never\n4 {3}alice {2}ci {11}publish-new yank {2}alpha-\* {2}never {25}\S+Z$/,
  )
})

test('token create, list, revoke: what is refused, and how', async t => {
  const folder = await servedFolder(t)
  await folder.ok('user', 'add', 'alice')
  await folder.ok('user', 'add', 'carol')
  await folder.ok('user', 'lock', 'carol')
  const create = (...options: string[]) => ['token', 'create', '--user', 'alice', ...options]
  await refuses(folder, [
    [['token', 'create'], 2, "required option '--user <username>' not specified"],
    [['token', 'create', '--user', 'nobody'], 1, /there is no user `nobody`; add one with/],
    [['token', 'create', '--user', 'carol'], 1, LOCKED],
    [create('--scope', 'Yank', 'read', 'all'), 2, `\`Yank\` ${SCOPES}\nerror: \`all\` ${SCOPES}`],
    [
      create('--crate', 'a*b', '--crate', '9', '--crate', ''),
      2,
      ['a*b', '9', ''].map(pattern => `\`${pattern}\` ${PATTERN}`).join('\nerror: '),
    ],
    [create('--scope', 'read', 'yank', '--crate', 'a*'), 2, READ_LIMITED],
    [create('--name', ''), 2, /^error: a token needs a name of 1 to 100 characters/],
    ...['5w', ''].map(text => [create(`--expires=${text}`), 2, `\`${text}\` ${DURATION}`] as const),
    [create('surplus'), 2, /^error: too many arguments/],
    [['token', 'revoke', '99'], 1, /there is no token 99, or it is revoked; `plimsoll token list`/],
    [['token', 'revoke', 'x'], 2, /`x` is not the number of a token; `plimsoll token list` has/],
    [['token', 'revoke'], 2, "missing required argument 'id'"],
  ])
  assert.equal((await folder.ok('token', 'list')).split('\n').length, 2, 'nothing was made')
})

test('a token without read is warned of in a private registry; one too many is refused', async t => {
  const env = { PLIMSOLL_AUTH_REQUIRED: 'true', PLIMSOLL_LIMITS_TOKENS_PER_USER: '2' }
  const folder = await servedFolder(t, env)
  await folder.ok('user', 'add', 'alice')
  const blind = await folder.run(['token', 'create', '--user', 'alice', '--scope', 'yank'])
  assert.match(blind.stdout, /^plim_\w{38}\n$/)
  assert.equal(
    blind.stderr,
    'warning: this registry is private; without the scope `read`, the token can neither resolve nor download crates\n',
  )
  const reader = await folder.run(['token', 'create', '--user', 'alice', '--scope', 'read'])
  assert.equal(reader.stderr, '')
  const said = /a user may have at most 2 tokens \(`limits\.tokens_per_user`\); revoke one/
  await refuses(folder, [[['token', 'create', '--user', 'alice'], 1, said]])
})

test('what a stolen token has published is listed and yanked, also when it is revoked', async t => {
  const folder = await servedFolder(t)
  const { url, ok } = folder
  await ok('user', 'add', 'alice')
  const stolen = await ok('token', 'create', '--user', 'alice')
  const other = await ok('token', 'create', '--user', 'alice')
  for (const name of ['alpha', 'beta']) assert.equal(await publish(url, stolen, name), '200')
  assert.equal(await publish(url, other, 'gamma'), '200')
  await ok('token', 'revoke', '2')
  await ok('yank', 'beta@1.0.0')
  const trace = async (...more: string[]) => {
    const rows = JSON.parse(await ok('token', 'trace', '2', '--json', ...more))
    return rows.map((row: Record<string, string>) => `${row.name} ${row.state} ${row.address}`)
  }
  assert.deepEqual(await trace(), ['alpha available 127.0.0.1', 'beta yanked 127.0.0.1'])
  assert.deepEqual(await trace('--yank'), ['alpha yanked 127.0.0.1', 'beta yanked 127.0.0.1'])
  const lines = await Promise.all(
    ['al/ph/alpha', 'ga/mm/gamma'].map(async path => (await fetch(`${url}/index/${path}`)).text()),
  )
  assert.deepEqual(
    lines.map(line => /"yanked":(\w+)/.exec(line)?.[1]),
    ['true', 'false'],
  )
  await refuses(folder, [[['token', 'trace', '9'], 1, /there is no token 9/]])
})
