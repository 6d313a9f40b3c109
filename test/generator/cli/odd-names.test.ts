// Mirrors generator/places/disk/crate-files.ts
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { plimsollHere } from '../../support/program.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { folderOf } from '../../support/workplace.ts'

const bytes = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))))

/** A folder with one good file and everything that a name may be wrong with; a socket and a pipe. */
async function oddFolder(t: Parameters<typeof registryFolder>[0]) {
  const made = await registryFolder(t)
  const odd = join(made.folder, 'odd')
  made.put('odd/demo-1.0.0.crate', { name: 'demo', version: '1.0.0' })
  writeFileSync(bytes(odd, '/latin-', 0xe9, '-1.0.0.crate'), 'x')
  mkdirSync(bytes(odd, '/dir-', 0xff))
  writeFileSync(bytes(odd, '/dir-', 0xff, '/inside-1.0.0.crate'), 'x')
  symlinkSync('nowhere', join(odd, 'lost.crate'))
  symlinkSync('loop.crate', join(odd, 'loop.crate'))
  writeFileSync(join(odd, 'broken.crate'), 'no gzip')
  execFileSync('mkfifo', [join(odd, 'pipe.crate')])
  symlinkSync('/dev/zero', join(odd, 'zero.crate'))
  const server = createServer().listen(join(odd, 'socket.crate'))
  t.after(() => server.close())
  return { ...made, odd }
}

const REFUSED = {
  'broken.crate': 'the crate file is not a gzip-compressed archive',
  'dir-\ufffd': 'its name is not UTF-8, so it cannot be opened; rename it',
  'latin-\ufffd-1.0.0.crate': 'its name is not UTF-8, so it cannot be opened; rename it',
  'loop.crate': 'there is no file: a link leads nowhere, or it was removed; mend or remove it',
  'lost.crate': 'there is no file: a link leads nowhere, or it was removed; mend or remove it',
}
const SPECIAL = 'it is no file, but a socket, pipe or device, and is left out'

/** Asserts that one run names everything, each once; a run that does nothing, what it is refused for. */
function checkNamed(odd: string, stderr: string, isWarned: boolean): void {
  for (const [name, message] of Object.entries(REFUSED))
    assert.equal(stderr.split(`${join(odd, name)}: ${message}`).length, 2, `${name}\n${stderr}`)
  for (const name of ['pipe', 'zero', 'socket']) {
    const warning = `warning: ${join(odd, name)}.crate: ${SPECIAL}`
    assert.equal(stderr.includes(warning), isWarned, `${name}\n${stderr}`)
  }
}

test('whatever is wrong with the name of a file is refused as a broken file is, all in one run', async t => {
  const { odd, run, folder, ok } = await oddFolder(t)
  const out = join(folder, 'out')
  const to = [...['--base-url', 'https://crates.example'], '--verbose'] as const
  const build = ['build', '--from', odd, '--out', out, '--no-cache', ...to] as const
  const whole = await run(...build)
  assert.equal(whole.code, 1)
  checkNamed(odd, whole.stderr, false)
  assert.equal(existsSync(join(out, 'index/de/mo/demo')), false)
  const rest = await run(...build, '--skip-bad')
  assert.equal(rest.code, 1)
  checkNamed(odd, rest.stderr, true)
  assert.equal(existsSync(join(out, 'index/de/mo/demo')), true)
  const pushed = await run('push', odd, '--to', join(folder, 'pushed'), ...to)
  assert.equal(pushed.code, 1)
  checkNamed(odd, pushed.stderr, false)
  assert.equal(existsSync(join(folder, 'pushed/index/de/mo/demo')), false)
  const added = await run('add', odd, '--verbose')
  assert.equal(added.code, 1)
  checkNamed(odd, added.stderr, true)
  assert.match(added.stdout, /^added demo 1\.0\.0\n1 added, 5 refused, 3 skipped\n$/)
  // Named one by one, as a shell does with `*.crate`.
  const names = ['lost.crate', 'pipe.crate', 'latin-\ufffd-1.0.0.crate']
  const one = await run('add', ...names.map(name => join(odd, name)))
  assert.equal(one.code, 1)
  assert.match(
    one.stderr,
    /pipe\.crate: it is no file, but.*lost\.crate: there is no file.*latin-.*: its name is not UTF-8/s,
  )
  assert.equal((await run('add', join(odd, 'absent.crate'))).code, 2)
  const only = join(folder, 'only')
  mkdirSync(only)
  symlinkSync('/dev/null', join(only, 'null.crate'))
  const warned = await ok('add', only, '--json')
  assert.deepEqual(JSON.parse(warned), [
    {
      path: join(only, 'null.crate'),
      name: null,
      version: null,
      outcome: 'skipped',
      warnings: [SPECIAL],
    },
  ])
})

test('settings that are a folder, or a link to nothing, are named with their path', async t => {
  const folder = folderOf(t)
  const run = (...args: readonly string[]) => plimsollHere(args, {}, { cwd: folder })
  const from = join(folder, 'from')
  const path = join(from, 'plimsoll.toml')
  mkdirSync(path, { recursive: true })
  const build = () => run('build', '--from', from, '--out', join(folder, 'out'), '--no-cache')
  const refused = await build()
  assert.equal(refused.code, 2)
  assert.equal(refused.stderr, `error: ${path} is a folder, where a file is needed\n`)
  const dir = await run('status', '--dir', from)
  assert.ok(dir.stderr.includes(`${path} is a folder, where a file is needed`), dir.stderr)
  execFileSync('rmdir', [path])
  symlinkSync('nowhere', path)
  assert.match((await build()).stderr, /there is no file or folder .*plimsoll\.toml/)
})
