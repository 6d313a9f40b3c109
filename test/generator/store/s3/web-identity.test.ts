import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { Refusal } from '../../../../core/error/error.ts'
import { BucketConnection } from '../../../../generator/store/s3/connection.ts'
import { CredentialChain } from '../../../../generator/store/s3/credentials.ts'
import { Transient } from '../../../../generator/store/s3/retry.ts'
import { Cleanup } from '../../../support/cleanup.ts'
import { closeServer, listen } from '../../../support/loopback.ts'
import { folderOf } from '../../../support/workplace.ts'

const ROLE = 'arn:aws:iam::123456789012:role/plimsoll'
const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.the-secret-token.c2lnbmF0dXJl'

/** An answer in the form of AWS STS. */
function keys(id: string, minutes: number): string {
  const end = new Date(Date.now() + minutes * 60_000).toISOString()
  return `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <SubjectFromWebIdentityToken>system:serviceaccount:crates:plimsoll</SubjectFromWebIdentityToken>
    <AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/plimsoll/p</Arn></AssumedRoleUser>
    <Credentials>
      <SessionToken>of-the-session</SessionToken>
      <SecretAccessKey>the-key</SecretAccessKey>
      <Expiration>${end}</Expiration>
      <AccessKeyId>${id}</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
  <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>
</AssumeRoleWithWebIdentityResponse>`
}

function failure(code: string, message: string): string {
  return `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`
}

/** A service that gives keys by tokens; `state.answer` is what it does. */
async function service(t: TestContext, more: Readonly<Record<string, string>> = {}) {
  const asked: Record<string, string | undefined>[] = []
  const state = {
    answer: (response: ServerResponse) => void response.end(keys('ASIAONE', 60)),
  }
  const server = createServer(async (request, response) => {
    const { authorization } = request.headers
    const form = Object.fromEntries(new URLSearchParams(await text(request)))
    asked.push({ ...form, ...(authorization !== undefined && { authorization }) })
    state.answer(response)
  })
  const url = await listen(server)
  new Cleanup(t).add(() => closeServer(server))
  const file = join(folderOf(t), 'token')
  writeFileSync(file, `${TOKEN}\n`)
  const env: Record<string, string> = {
    HOME: '/nonexistent',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_WEB_IDENTITY_TOKEN_FILE: file,
    AWS_ROLE_ARN: ROLE,
    AWS_ENDPOINT_URL_STS: url,
    ...more,
  }
  return { asked, state, file, env, url }
}

test('a token in a file gives keys for a role, asked for once, without a signature', async t => {
  const { asked, env } = await service(t, { AWS_ROLE_SESSION_NAME: 'crates' })
  const chain = new CredentialChain(env)
  const [one, two] = await Promise.all([chain.get(), chain.get()])
  assert.equal(one, two)
  const { expires = 0, ...rest } = await chain.get()
  assert.deepEqual(rest, {
    accessKeyId: 'ASIAONE',
    secretAccessKey: 'the-key',
    sessionToken: 'of-the-session',
  })
  assert.ok(new Date(expires - 59 * 60_000) > new Date())
  assert.deepEqual(asked, [
    {
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: ROLE,
      RoleSessionName: 'crates',
      WebIdentityToken: TOKEN,
    },
  ])
})

test('keys of the environment go before the token, and the token before a profile', async t => {
  const { asked, env } = await service(t)
  const fixed = { ...env, AWS_ACCESS_KEY_ID: 'fixed', AWS_SECRET_ACCESS_KEY: 'secret' }
  assert.equal((await new CredentialChain(fixed).get()).accessKeyId, 'fixed')
  assert.deepEqual(asked, [])
  const shared = join(folderOf(t), 'credentials')
  writeFileSync(shared, '[default]\naws_access_key_id = two\naws_secret_access_key = 2\n')
  const both = { ...env, AWS_SHARED_CREDENTIALS_FILE: shared }
  assert.equal((await new CredentialChain(both).get()).accessKeyId, 'ASIAONE')
  const without = { ...both, AWS_ROLE_ARN: '' }
  assert.equal((await new CredentialChain(without).get()).accessKeyId, 'two')
  assert.equal(asked.length, 1)
})

test('keys are renewed before they end, by the token that is in the file then', async t => {
  const { asked, state, env, file } = await service(t)
  state.answer = response => void response.end(keys('ASIAONE', 4))
  const chain = new CredentialChain(env)
  assert.equal((await chain.get()).accessKeyId, 'ASIAONE')
  writeFileSync(file, 'a.newer.token')
  state.answer = response => void response.end(keys('ASIATWO', 60))
  assert.equal((await chain.get()).accessKeyId, 'ASIATWO')
  assert.deepEqual(
    asked.map(one => one.WebIdentityToken),
    [TOKEN, 'a.newer.token'],
  )
})

test('keys that cannot be renewed are used as long as they hold', async t => {
  const { asked, state, env } = await service(t)
  state.answer = response => void response.end(keys('ASIAONE', 4))
  const chain = new CredentialChain(env)
  await chain.get()
  state.answer = response => void response.writeHead(503).end()
  for (let time = 0; time < 3; time++) assert.equal((await chain.get()).accessKeyId, 'ASIAONE')
  assert.equal(asked.length, 2)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 5 * 60_000 })
  await assert.rejects(chain.get(), Transient)
})

test('what the service refuses is told with its reason, and without the token', async t => {
  const { state, env } = await service(t)
  const cases: [status: number, body: string, reason: string][] = [
    [
      403,
      failure('AccessDenied', `Not authorized with ${TOKEN} here`),
      '(403 AccessDenied: Not authorized with … here)',
    ],
    [400, failure('ExpiredTokenException', ''), '(400 ExpiredTokenException)'],
    [404, '<html><p>not here', '(404)'],
    [200, '<AssumeRoleWithWebIdentityResponse/>', '(its answer has no keys)'],
    [200, keys('ASIA', 60).replace(/<Expiration>.*<\/Expiration>/, ''), '(its answer has no keys)'],
    [200, `<a>${'x'.repeat(100_000)}</a>`, '(its answer has no keys)'],
    [200, `<!DOCTYPE a [<!ENTITY b "c">]>${keys('ASIA', 60)}`, '(its answer has no keys)'],
  ]
  for (const [status, body, reason] of cases) {
    state.answer = response => void response.writeHead(status).end(body)
    await assert.rejects(new CredentialChain(env).get(), error => {
      assert.ok(error instanceof Refusal && error.has('bucket_role_refused'), String(error))
      assert.ok(error.message.includes(reason), error.message)
      assert.ok(!error.message.includes(TOKEN))
      return true
    })
  }
})

test('a file without a token is told by its name', async t => {
  const { env, file } = await service(t)
  for (const [content, reason] of [
    ['', 'it has no token'],
    ['two words', 'it has no token'],
    [null, 'ENOENT'],
  ] as const) {
    const path = content === null ? `${file}-gone` : file
    if (content !== null) writeFileSync(file, content)
    const refused = new CredentialChain({ ...env, AWS_WEB_IDENTITY_TOKEN_FILE: path }).get()
    await assert.rejects(refused, error => {
      assert.ok(error instanceof Refusal && error.has('bucket_token_missing'))
      assert.ok(error.message.includes(`${path} (${reason})`), error.message)
      return true
    })
  }
})

test('a service that does not answer is asked again; a redirect is not followed', async t => {
  const { asked, state, env, url } = await service(t)
  for (const answer of [
    (response: ServerResponse) => void response.writeHead(503).end(),
    (response: ServerResponse) => void response.writeHead(429).end(),
    (response: ServerResponse) =>
      void response.writeHead(400).end(failure('IDPCommunicationError', 'later')),
    (response: ServerResponse) => void response.destroy(),
    (response: ServerResponse) => void response.writeHead(307, { location: `${url}/other` }).end(),
  ]) {
    state.answer = answer
    asked.splice(0)
    await assert.rejects(new CredentialChain(env).get(), Transient)
    assert.equal(asked.length, 1)
  }
  const address = { bucket: 'crates', prefix: '' }
  const options = {
    address,
    endpoint: url,
    region: null,
    pathStyle: 'on' as const,
    env,
    budget: 300,
  }
  const connection = new BucketConnection(options)
  state.answer = response => void response.writeHead(503).end()
  for (const work of [
    () => connection.send({ method: 'HEAD', key: 'a' }),
    () => connection.presigned('a', 60),
  ])
    await assert.rejects(work(), error => {
      assert.ok(error instanceof Refusal && error.has('bucket_unreachable'), String(error))
      return error.message.includes('keys for the role: 503')
    })
})
