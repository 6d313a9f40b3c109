import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Cleanup } from '../cleanup.ts'
import { freePort } from '../loopback.ts'
import { scratch } from '../scratch.ts'
import { until } from '../until.ts'
import { startS3 } from './bucket.ts'
import type { TestS3 } from './environment.ts'
import { KEYS } from './signature.ts'

/**
 * The program of versitygw when the tests run on it (PLIMSOLL_TEST_S3=versitygw); `scripts/test.mjs` says
 * where it is.
 */
const program = process.env.PLIMSOLL_TEST_S3_PROGRAM ?? null

/** Starts the S3 of this run until the test ends, for tests that need no faults. */
export function startEngine(cleanup: Cleanup): Promise<TestS3> {
  return program === null ? startS3(cleanup) : startVersitygw(cleanup, program)
}

/**
 * Starts versitygw, a server over a folder, with one bucket, `test`. It keeps metadata of objects
 * in separate files, or as attributes of their files: not every file system has those.
 */
export async function startVersitygw(
  cleanup: Cleanup,
  program: string,
  storage: 'files' | 'attributes' = 'files',
): Promise<TestS3> {
  const folder = scratch(cleanup)
  // A folder is a bucket.
  for (const name of ['objects/test', 'facts']) mkdirSync(join(folder, name), { recursive: true })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const server = spawn(
    program,
    ['--quiet', '--region', 'eu-test-1', '--keep-alive', '--port', `127.0.0.1:${port}`].concat([
      'posix',
      ...(storage === 'files' ? ['--sidecar', join(folder, 'facts')] : []),
      join(folder, 'objects'),
    ]),
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ROOT_ACCESS_KEY: KEYS.id, ROOT_SECRET_KEY: KEYS.secret },
    },
  )
  let output = ''
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const ended = new Promise(resolve => server.on('close', resolve))
  cleanup.add(async () => {
    server.kill('SIGKILL')
    await ended
  })
  await until(
    () => {
      assert.equal(server.exitCode, null, output)
      return fetch(url).then(
        () => true,
        () => false,
      )
    },
    () => `versitygw does not answer\n${output}`,
  )
  return { url }
}
