import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MadeUpIssuer } from '../../support/made-up-issuer.ts'
import { plimsollHere } from '../../support/program.ts'
import { JOBS } from '../../support/trusted-jobs.ts'
import { folderOf } from '../../support/workplace.ts'

test('rules are written, listed, explained and removed at the command line', async t => {
  const issuer = await MadeUpIssuer.start(t)
  issuer.now = new Date()
  const folder = folderOf(t)
  const dir = join(folder, 'registry')
  const env = {
    ...issuer.settings('github', 'github'),
    PLIMSOLL_ISSUER_GITHUB_SHARED: 'true',
    PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.test',
  }
  const said = async (code: number, ...args: readonly string[]) => {
    const ended = await plimsollHere([...args, '--dir', dir], env)
    assert.equal(ended.code, code, `${args.join(' ')}\n${ended.stderr}`)
    return ended
  }
  await said(0, 'init')
  await said(0, 'user', 'add', 'alice')
  const jwtFile = join(folder, 'token.txt')
  writeFileSync(jwtFile, await issuer.sign(JOBS.github))
  const claims = ['--claim', 'repository=acme/demo', 'workflow=release.yml', 'ref=refs/heads/main']
  const add = ['trust', 'add', 'demo', '--issuer', 'github', ...claims, '--owner', 'alice']
  const added = await said(0, ...add, '--from-jwt', jwtFile)
  assert.deepEqual([added.stdout, added.stderr], ['rule 1 lets jobs of github publish demo\n', ''])
  const wide = await said(
    0,
    'trust',
    'add',
    'acme-*',
    '--issuer',
    'github',
    '--claim',
    'repository_owner=acme',
    '--owner',
    'alice',
  )
  assert.match(wide.stderr, /^warning: the rule names neither `ref` nor `environment`/)
  const [first] = JSON.parse((await said(0, 'trust', 'list', '--unused', '--json')).stdout)
  assert.deepEqual(first, {
    ...{ id: 1, crate: 'demo', issuer: 'github', owner: 'alice', used: null },
    claims: {
      ...{ repository: ['acme/demo'], workflow: ['release.yml'], ref: ['refs/heads/main'] },
      ...{ repository_owner_id: ['123'], repository_id: ['456'] },
    },
  })
  const good = await said(0, 'trust', 'test', '--jwt', jwtFile, '--crate', 'demo')
  const unchecked = 'The signature of the token was not checked.\n'
  assert.equal(good.stdout, `rule 1 lets it publish demo\n${unchecked}`)
  writeFileSync(jwtFile, await issuer.sign({ ...JOBS.github, repository_owner_id: '9', exp: 1 }))
  const bad = JSON.parse((await said(1, 'trust', 'test', '--jwt', jwtFile, '--json')).stdout)
  assert.deepEqual(
    [bad.allowed, bad.rules[0].differences[0].claim, bad.issues.length],
    [false, 'repository_owner_id', 1],
  )
  assert.match(bad.issues[0], /^Failed to decode JWT: its `exp` is 1970-01-01T00:00:01Z/)
  // What no key could verify is said, too.
  writeFileSync(jwtFile, await issuer.sign(JOBS.github, { kid: undefined }))
  const keyless = await said(1, 'trust', 'test', '--jwt', jwtFile)
  assert.equal(keyless.stderr, 'error: Missing JWT key ID\n')
  const rows: [code: number, args: string[], text: RegExp][] = [
    [2, ['trust', 'add', 'demo', '--issuer', 'none', ...claims], /there is no issuer `none`/],
    [
      1,
      ['trust', 'add', 'demo', '--issuer', 'github', '--claim', 'workflow=a.yml'],
      /a rule has to name who may publish: one of the claims `repository`/,
    ],
    [1, ['trust', 'add', 'demo', '--issuer', 'github', ...claims], /say it with --owner USER/],
    [
      1,
      ['trust', 'add', 'a b', '--issuer', 'github', ...claims],
      /neither the name of a crate nor a prefix/,
    ],
    [1, [...add, '--owner', 'nobody'], /there is no user `nobody`/],
    [2, ['trust', 'remove', 'x'], /`x` is not the number of a rule/],
    [1, ['trust', 'remove', '99'], /there is no rule 99/],
    [2, ['trust', 'test', '--jwt', join(dir, 'plimsoll.toml')], /it is not a JWT with claims/],
    [
      2,
      ['token', 'exchange', '--jwt-env', 'NONE'],
      /the variable NONE is empty; .* `aud: crates\.test`/,
    ],
  ]
  for (const [code, args, text] of rows)
    assert.match((await said(code, ...args)).stderr, text, args.join(' '))
  const foreign = await issuer.sign({ ...JOBS.github, repository: 'acme/x' })
  writeFileSync(jwtFile, foreign)
  assert.match(
    (await said(1, ...add, '--from-jwt', jwtFile)).stderr,
    /has `repository` acme\/x, and the rule wants acme\/demo/,
  )
  assert.equal(
    (await said(0, 'trust', 'only', 'demo')).stdout,
    'versions of demo come from CI only\n',
  )
  assert.equal(
    (await said(0, 'trust', 'only', 'demo')).stdout,
    'versions of demo come from CI only, as before\n',
  )
  assert.equal(
    (await said(0, 'trust', 'only', 'demo', '--off')).stdout,
    'versions of demo come from owners, too\n',
  )
  assert.equal((await said(0, 'trust', 'remove', '1')).stdout, 'removed rule 1\n')
  const audit = JSON.parse((await said(0, 'audit', '--json')).stdout)
  assert.deepEqual(
    audit.map(({ action }: { action: string }) => action),
    ['user-add', 'trust-add', 'trust-add', 'trust-only', 'trust-only-off', 'trust-remove'],
  )
})
