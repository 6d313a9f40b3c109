import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Lock } from '../../../generator/places/locks/lock.ts'
import { plimsollHere } from '../../support/program.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const ENV = { PLIMSOLL_GIT_INDEX: 'off', PLIMSOLL_DOWNLOADS_COUNT: 'imported' }

test('downloads import: folders, packed logs, a broken one, and the pages that show it', async t => {
  const folder = folderOf(t)
  const run = (...args: string[]) => plimsollHere(args, ENV, { cwd: folder })
  await run('init', '--base-url', 'https://crates.example/cargo')
  writeCrate(join(folder, 'demo.crate'), { name: 'demo', version: '1.0.0' })
  await run('add', 'demo.crate')
  const now = new Date().toUTCString().split(' ')
  const line = (path: string) =>
    `::1 - - [${now[1]}/${now[2]}/${now[3]}:${now[4]} +0000] "GET ${path} HTTP/2.0" 200 1 "-" "-"\n`
  const path = '/cargo/crates/demo/demo-1.0.0.crate'
  mkdirSync(join(folder, 'logs', 'old'), { recursive: true })
  writeFileSync(join(folder, 'logs', 'access.log'), `${line(path) + line('/cargo/')}hello\n`)
  writeFileSync(join(folder, 'logs', 'old', 'access.gz'), gzipSync(line('/') + line(path)))
  writeFileSync(join(folder, 'logs', 'old', 'broken.gz'), gzipSync(line(path)).subarray(0, 20))
  const first = await run('downloads', 'import', 'logs')
  assert.deepEqual(first, {
    code: 1,
    stdout:
      '2 downloads counted in 5 new lines of 2 logs; 2 other requests, 0 downloads of unknown versions, 1 line not understood\n',
    stderr: `warning: logs/access.log: 1 line not understood, such as
  line 3 of those read: hello
error: the access log logs/old/broken.gz cannot be read: unexpected end of file; the others were imported
`,
  })
  const crate = join(folder, 'registry', 'public', 'crates', 'demo')
  assert.equal(JSON.parse(readFileSync(join(crate, 'downloads.json'), 'utf8')).total, 2)
  assert.match(readFileSync(join(crate, 'index.html'), 'utf8'), /downloads\.svg/)
  await run('backup', 'all.tar')
  await run('restore', 'all.tar', '--dir', 'restored')
  const restored = join(folder, 'restored', 'public', 'crates', 'demo', 'downloads.json')
  assert.equal(JSON.parse(readFileSync(restored, 'utf8')).total, 2)
  const again = await run('downloads', 'import', '--json', 'logs/access.log')
  const [report] = JSON.parse(again.stdout)
  assert.deepEqual([again.code, report.path, report.downloads], [0, 'logs/access.log', 0])

  const served = await run('downloads', 'import', 'logs', '--set', 'downloads.count=served')
  assert.equal(served.code, 2)
  assert.match(served.stderr, /^error: the setting `downloads\.count` is "served"/)
  const nowhere = await run('downloads', 'import', 'nowhere', 'gone')
  const lost = 'error: there is no file or folder nowhere\n'
  assert.deepEqual([nowhere.code, nowhere.stderr], [2, lost])
  writeFileSync(join(folder, 'late.log'), line('/late') + line(path))
  assert.deepEqual(await run('downloads', 'import', 'nowhere', 'late.log'), {
    code: 1,
    stdout:
      '1 download counted in 2 new lines of 1 log; 1 other request, 0 downloads of unknown versions, 0 lines not understood\n',
    stderr:
      'error: the access log nowhere cannot be read: there is no file or folder nowhere; the others were imported\n',
  })
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  // With a writer, nobody waits for it to be opened.
  const writer = openSync(pipe, 'r+')
  const piped = await run('downloads', 'import', 'pipe')
  closeSync(writer)
  assert.match(
    piped.stderr,
    /^error: the access log pipe cannot be read: pipe is neither a file nor a folder/,
  )
  const lock = new Lock(join(folder, 'registry', 'locks', 'downloads.lock'))
  assert.ok(lock.tryAcquire('the test'))
  const beside = await run('downloads', 'import', 'logs')
  lock.release()
  assert.match(beside.stderr, /another import of downloads is running \(the test\)/)
})
