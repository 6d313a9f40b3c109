// Mirrors daemon/commands/oidc.ts and group.ts
import assert from 'node:assert/strict'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { registryFolder } from '../../support/registry-folder.ts'
import { refuses } from '../../support/served-folder.ts'

const ISSUER = 'https://login.example.com/realms/acme'
const SETTINGS = `[oidc.company]
issuer = "${ISSUER}"
client_id = "plimsoll"
require = { hd = "acme.com", groups = ["rust", "go"] }
`

async function folderWith(t: TestContext, settings: string) {
  const folder = await registryFolder(t)
  appendFileSync(join(folder.dir, 'plimsoll.toml'), settings)
  return folder
}

test('accounts are linked and moved, machines have no login', async t => {
  const folder = await folderWith(t, SETTINGS)
  const { ok } = folder
  for (const login of ['root', 'alice']) await ok('user', 'add', login)
  assert.match(
    await ok('settings'),
    /oidc.company.require = \[ "hd=acme.com", "groups=rust", "groups=go" \]/,
  )
  assert.equal(await ok('user', 'add', 'robot', '--no-login'), 'added robot\n')
  const link = ['user', 'link', 'alice', '--issuer', 'company', '--subject', 'e-1']
  assert.equal(await ok(...link), `alice logs in at ${ISSUER} as e-1\n`)
  assert.match(await ok('user', 'link', 'root'), /\/me\/password\?link=/)
  await refuses({ run: args => folder.run(...args) }, [
    [link, 1, 'the account `alice` has this identity already; nothing was changed'],
    [['user', 'link', 'root', '--issuer', 'company'], 2, /^error: --issuer and --subject belong/],
    [['user', 'link', 'root', '--keep-password'], 2, /^error: --issuer and --subject belong/],
    [
      ['user', 'link', 'root', '--issuer', 'none', '--subject', 'x'],
      1,
      /no section `\[oidc.none\]`/,
    ],
    [['user', 'link', 'robot'], 1, /`robot` is the account of a machine/],
    [['user', 'add', 'other', '--no-login', '--password-stdin'], 1, /account of a machine/],
    [['user', 'move-issuer', 'https://none.example', ISSUER], 1, /no account or group here is of/],
    [['user', 'move-issuer', ISSUER, 'local'], 1, /`local` is no URL of an issuer/],
    [['user', 'move-issuer', 'company', `${ISSUER}/`], 1, /`company` is no URL of an issuer/],
    [['user', 'move-issuer', ISSUER, ISSUER], 1, /which may be that of two people/],
  ])
  assert.match(await ok('user', 'list'), /^alice +user +login due +\S+Z *$/m)
  const users = JSON.parse(await ok('user', 'list', '--json'))
  assert.deepEqual(users[1].identities, [{ issuer: ISSUER, subject: 'e-1', logged_in: null }])
  assert.deepEqual([users[1].login_due, users[2].machine], [true, true])
  assert.equal(
    await ok('user', 'move-issuer', ISSUER, 'https://login.example.com/'),
    'moved 1 account and 0 groups\n',
  )
  assert.match(await ok('audit'), /issuer-move/)
  // A wrong link is taken back: by the URL, where no section has it any more.
  const unlink = ['user', 'unlink', 'alice', '--issuer']
  await refuses({ run: args => folder.run(...args) }, [
    [
      [...unlink, 'company'],
      1,
      /^error: `alice` is not linked to https:\/\/login.example.com\/realms/,
    ],
  ])
  const said = 'alice does not log in at https://login.example.com/ any more\n'
  assert.equal(await ok(...unlink, 'https://login.example.com/'), said)
  assert.match(await ok('user', 'list'), /^alice +user +active/m)
  assert.equal(await ok(...link), `alice logs in at ${ISSUER} as e-1\n`)
  assert.match(await ok(...unlink, 'company'), /does not log in at/)
})

test('groups by hand own crates as users do', async t => {
  const folder = await folderWith(t, SETTINGS)
  const { ok, put } = folder
  await ok('add', put('demo-1.0.0.crate', { name: 'demo', version: '1.0.0' }))
  for (const login of ['root', 'alice']) await ok('user', 'add', login)
  assert.equal(await ok('group', 'add', 'rust', 'alice'), 'alice is in group:rust\n')
  assert.equal(
    await ok('group', 'add', 'local/rust', 'ALICE'),
    'ALICE is in group:local/rust, as before\n',
  )
  assert.equal(
    await ok('group', 'title', 'rust', 'The "Rust" <people>'),
    'group:rust is called "The "Rust" <people>"\n',
  )
  assert.equal(await ok('owner', 'add', 'demo', 'group:rust'), 'group:rust owns demo\n')
  assert.match(await ok('owner', 'list', 'demo'), /^2147483649 +group:rust +The "Rust" <people>$/m)
  assert.match(await ok('group', 'list'), /^local +rust +The "Rust" <people> +alice *$/m)
  await refuses({ run: args => folder.run(...args) }, [
    [['owner', 'remove', 'demo', 'group:rust'], 1, /`demo` would have no owner left/],
    [['owner', 'add', 'demo', 'group:go'], 1, /nobody who has logged in has the group `group:go`/],
    [['group', 'add', 'company/rust', 'alice'], 1, /is a group of the issuer/],
    [['group', 'add', 'two\nlines', 'alice'], 1, /one line of at most 500 characters/],
    [['group', 'add', 'go', 'nobody'], 1, /there is no user `nobody`/],
    [['group', 'title', 'go', 'Go'], 1, /nobody who has logged in has the group/],
  ])
  await ok('user', 'lock', 'alice')
  assert.match(await ok('status'), /no owner of these crates can do anything any more: demo/)
})

test('the start is refused where everybody would be staff, or nobody could log in', async t => {
  const refusal = async (settings: string) => {
    const { dir, run } = await registryFolder(t)
    writeFileSync(join(dir, 'plimsoll.toml'), `[auth]\n${settings}`)
    return (await run('status')).stderr
  }
  const section = (issuer: string, more = '') =>
    `[oidc.company]\nissuer = "${issuer}"\nclient_id = "plimsoll"\n${more}`
  for (const issuer of [
    'https://accounts.google.com',
    'https://gitlab.com',
    'https://codeberg.org',
  ])
    assert.match(await refusal(section(issuer)), /would make everybody a user here/, issuer)
  const google = 'https://accounts.google.com'
  assert.doesNotMatch(await refusal(section(google, 'require = { hd = "acme.com" }')), /error/)
  assert.doesNotMatch(await refusal(section(google, 'allowed_groups = ["x"]')), /error/)
  const entra = 'https://login.microsoftonline.com'
  for (const tenant of [
    'common',
    'organizations',
    'consumers',
    '9188040d-6c67-4c5b-b112-36a304b66dad',
  ])
    assert.match(
      await refusal(section(`${entra}/${tenant}/v2.0`, 'require = { tid = "x" }')),
      /where everybody may have an account/,
      tenant,
    )
  assert.doesNotMatch(
    await refusal(section(`${entra}/0e1b2c3d-0000-4000-8000-000000000000/v2.0`)),
    /error/,
  )
  assert.match(await refusal('passwords = "off"\n'), /nobody could log in/)
  assert.match(await refusal(section('http://login.example.com')), /accepted: the https URL/)
  assert.match(
    await refusal('[oidc.local]\nissuer = "https://x.example"\nclient_id = "x"\n'),
    /local/,
  )
  assert.match(await refusal('[oidc.company]\nissuer = "https://x.example"\n'), /client_id/)
})
