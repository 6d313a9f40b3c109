import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort } from '../../support/loopback.ts'
import { hostEnvironment, root } from '../../support/plimsoll.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { until } from '../../support/until.ts'

test('a start that waits for a storage ends at once when it is stopped', {
  // The storage is tried for longer.
  timeout: 15_000,
}, async t => {
  const { dir } = await registryFolder(t)
  const [port, away] = [await freePort(), await freePort()]
  const env = {
    ...hostEnvironment(),
    PLIMSOLL_STORAGE_PUBLIC: 's3://test/www',
    PLIMSOLL_STORAGE_ENDPOINT: `http://127.0.0.1:${away}`,
    PLIMSOLL_STORAGE_REGION: 'x',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
  }
  const program = join(root, 'dist', 'program', 'cli.js')
  const args = [program, 'serve', '--dir', dir, '--listen', `127.0.0.1:${port}`]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', text => {
      said += text
    })
  const startup = () => fetch(`http://127.0.0.1:${port}/startupz`)
  await until(
    async () => (await startup().catch(() => null))?.status === 503,
    () => `the start is not under way: ${said}`,
  )
  child.kill('SIGTERM')
  const [code] = await once(child, 'close')
  const lines = said.trim().split('\n')
  assert.match(lines.at(-1) ?? '', /"stopped"/)
  assert.equal(code, 0, said)
  assert.match(said, /"signal":"SIGTERM".*stopping before the start is over/)
})
