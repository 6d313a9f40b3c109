import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../../../core/error/error.ts'
import { CredentialChain, regionOf } from '../../../../generator/store/s3/credentials.ts'
import { Cleanup } from '../../../support/cleanup.ts'
import { folderOf } from '../../../support/workplace.ts'

/** No shared files and no machine in a cloud. */
const NOWHERE = { HOME: '/nonexistent', AWS_EC2_METADATA_DISABLED: 'true' }

test('the environment goes first', async () => {
  const env = { ...NOWHERE, AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }
  const keys = await new CredentialChain(env).get()
  assert.deepEqual(keys, { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: undefined })
  const chain = new CredentialChain({ ...env, AWS_SESSION_TOKEN: 'token' })
  assert.equal((await chain.get()).sessionToken, 'token')
})

test('profiles are read from both shared files', async t => {
  const home = folderOf(t)
  mkdirSync(join(home, '.aws'))
  writeFileSync(
    join(home, '.aws', 'credentials'),
    '# keys\n[default]\naws_access_key_id = one\naws_secret_access_key=1\n\n[other]\naws_access_key_id = two\naws_secret_access_key = 2\naws_session_token = t\n',
  )
  writeFileSync(
    join(home, '.aws', 'config'),
    '[default]\nregion = eu-one-1\n[profile other]\nregion = eu-two-1\n',
  )
  const env = { ...NOWHERE, HOME: home }
  assert.equal((await new CredentialChain(env).get()).accessKeyId, 'one')
  assert.equal(await regionOf(env), 'eu-one-1')
  const other = { ...env, AWS_PROFILE: 'other' }
  assert.deepEqual(await new CredentialChain(other).get(), {
    accessKeyId: 'two',
    secretAccessKey: '2',
    sessionToken: 't',
  })
  assert.equal(await regionOf(other), 'eu-two-1')
  assert.equal(await regionOf({ ...other, AWS_REGION: 'named' }), 'named')
})

test('without keys anywhere, the refusal says where they could be', async () => {
  const refused = new CredentialChain(NOWHERE).get()
  await assert.rejects(
    refused,
    error => error instanceof Refusal && error.has('bucket_keys_missing'),
  )
})

test('a container and a machine give temporary keys, which are asked for once', async t => {
  const asked: string[] = []
  const keys = (id: string, minutes: number) =>
    JSON.stringify({
      AccessKeyId: id,
      SecretAccessKey: 'secret',
      Token: 'token',
      Expiration: new Date(Date.now() + minutes * 60_000).toISOString(),
    })
  const server = createServer((request, response) => {
    const { method, url = '', headers } = request
    asked.push(
      `${method} ${url} ${headers.authorization ?? headers['x-aws-ec2-metadata-token'] ?? ''}`,
    )
    if (url === '/container') return void response.end(keys('of-container', 60))
    if (url === '/latest/api/token') return void response.end('a-token')
    if (url.endsWith('/security-credentials/')) return void response.end('a-role\n')
    response.end(keys('of-machine', 1))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  new Cleanup(t).add(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const container = new CredentialChain({
    ...NOWHERE,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/container`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: 'pass',
  })
  const [one, two] = await Promise.all([container.get(), container.get()])
  assert.deepEqual([one.accessKeyId, two], ['of-container', one])
  await container.get()
  assert.deepEqual(asked.splice(0), ['GET /container pass'])
  const machine = new CredentialChain({
    HOME: '/nonexistent',
    AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
  })
  assert.equal((await machine.get()).accessKeyId, 'of-machine')
  const folder = '/latest/meta-data/iam/security-credentials/'
  const round = ['PUT /latest/api/token ', `GET ${folder} a-token`, `GET ${folder}a-role a-token`]
  assert.deepEqual(asked.splice(0), round)
  // Keys that end within five minutes are asked for again.
  await machine.get()
  assert.deepEqual(asked, round)
})
