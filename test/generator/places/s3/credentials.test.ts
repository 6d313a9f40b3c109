// Mirrors generator/places/s3/client.ts: keys and the region come from where operators keep them
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../../../support/cleanup.ts'
import { run } from '../../../support/command.ts'
import { root } from '../../../support/plimsoll.ts'
import { startS3 } from '../../../support/s3/bucket.ts'
import { KEYS } from '../../../support/s3/signature.ts'
import { scratch } from '../../../support/scratch.ts'

/** Runs `plimsoll deploy` of a small tree with these variables and nothing else. */
async function deploy(folder: string, to: string, env: Record<string, string>) {
  const program = join(root, 'dist', 'program', 'cli.js')
  mkdirSync(join(folder, 'crates'), { recursive: true })
  const options = {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, AWS_EC2_METADATA_DISABLED: 'true', ...env },
  }
  const build = ['build', '--from', 'crates', '--out', 'public', '--base-url', 'http://x.example']
  assert.equal((await run(process.execPath, [program, ...build], options)).code, 0)
  return run(process.execPath, [program, 'deploy', '--from', 'public', '--to', to], options)
}

test('a profile gives keys and region; without keys the error says what to set', async t => {
  const cleanup = new Cleanup(t)
  const s3 = await startS3(cleanup)
  const folder = scratch(cleanup)
  const endpoint = { PLIMSOLL_STORAGE_ENDPOINT: s3.url }
  const without = await deploy(folder, 's3://test/a', endpoint)
  assert.equal(without.code, 1)
  assert.match(without.stderr, /there are no keys for the object storage \(.+\); set `AWS_ACCESS/)
  assert.equal(s3.requests.length, 0)
  mkdirSync(join(folder, '.aws'))
  const keys = `aws_access_key_id = ${KEYS.id}\naws_secret_access_key = ${KEYS.secret}\n`
  writeFileSync(join(folder, '.aws', 'credentials'), `[site]\n${keys}`)
  writeFileSync(join(folder, '.aws', 'config'), '[profile site]\nregion = eu-test-1\n')
  const done = await deploy(folder, 's3://test/a', { ...endpoint, AWS_PROFILE: 'site' })
  assert.equal(done.code, 0, done.stderr)
  // The SDK would say that it is going to end with this Node.
  assert.doesNotMatch(done.stderr, /warning/i)
  assert.ok(s3.objects.has('a/index/config.json'))
  const { authorization = '' } = s3.requests[0]?.headers ?? {}
  assert.match(authorization, /\/eu-test-1\/s3\/aws4_request/)
})
