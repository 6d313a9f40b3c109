// Mirrors generator/import/source/git.ts
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { openSource } from '../../../generator/import/source/open.ts'
import { folderOf } from '../../support/workplace.ts'

/** Makes a repository of one commit; `files` by path. */
function repository(folder: string, files: Readonly<Record<string, string>>): string {
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', ['-C', folder, ...args], { input, encoding: 'utf8' }).trim()
  git(['init', '--quiet', '--bare'])
  const commands = Object.entries(files).map(
    ([path, text]) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
  )
  const commit = `commit HEAD\ncommitter T <t@localhost> 1 +0000\ndata 0\n${commands.join('')}`
  git(['fast-import', '--quiet'], commit)
  return folder
}

test('an index file may be longer than what a pipe holds', async t => {
  const line = (number: number) => {
    const vers = `0.1.${number}`
    const cksum = createHash('sha256').update(vers).digest('hex')
    return `${JSON.stringify({ name: 'anvil', vers, deps: [], cksum, features: {}, yanked: false })}\n`
  }
  const lines = Array.from({ length: 3000 }, (_, number) => line(number)).join('')
  const files = {
    'an/vi/anvil': lines,
    '3/a/abc': '',
    'ha/mm/hammer': line(1).replace('anvil', 'hammer'),
  }
  const source = await openSource({ source: repository(folderOf(t), files), crates: folderOf(t) })
  const paths: string[] = []
  for await (const { name, versions } of source.crates()) paths.push(`${name} ${versions.length}`)
  assert.deepEqual(paths, ['null 0', 'anvil 3000', 'hammer 1'])
})

const HOSTILE = (marker: string) => `
[core]
  hooksPath = ${marker}.hooks
  fsmonitor = touch ${marker}
  sshCommand = touch ${marker}
  gitProxy = touch ${marker}
  alternateRefsCommand = touch ${marker}
  pager = touch ${marker}
  askPass = touch ${marker}
[uploadpack]
  packObjectsHook = touch ${marker}
[extensions]
  partialClone = origin
[remote "origin"]
  url = ext::touch ${marker}
  promisor = true
  uploadpack = touch ${marker}
[submodule "x"]
  url = ext::touch ${marker}
  update = !touch ${marker}
`

test("no command in a stranger's repository is run", async t => {
  const path = repository(folderOf(t), { '3/a/abc': '', '.gitmodules': '[submodule "x"]\n' })
  const marker = join(folderOf(t), 'marker')
  appendFileSync(join(path, 'config'), HOSTILE(marker))
  mkdirSync(join(path, 'hooks'), { recursive: true })
  for (const name of ['post-checkout', 'reference-transaction', 'pre-auto-gc', 'post-index-change'])
    writeFileSync(join(path, 'hooks', name), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 })
  for (const source of [path, `file://${path}`]) {
    const opened = await openSource({ source, crates: folderOf(t) })
    for await (const { versions } of opened.crates()) assert.deepEqual(versions, [])
    await opened.close?.()
  }
  assert.equal(existsSync(marker), false)
})

test("a stranger's repository that has git read other files is refused", async t => {
  const other = repository(folderOf(t), { '3/a/abc': '' })
  const pipe = join(folderOf(t), 'pipe')
  execFileSync('mkfifo', [pipe])
  const cases: readonly [file: string, text: string][] = [
    ['config', `[core][INCLUDE]path=${pipe}\n`],
    ['config', `[includeIf "gitdir:/"]\npath=${pipe}\n`],
    ['config.worktree', `[ include ]\n  path = ${pipe}\n`],
    ['objects/info/alternates', `${other}/objects\n`],
    ['commondir', `${other}\n`],
  ]
  const refusal = async (source: string, said: RegExp) => {
    await assert.rejects(openSource({ source, crates: folderOf(t) }), said)
  }
  for (const [file, text] of cases) {
    const path = repository(folderOf(t), { '3/a/abc': '' })
    mkdirSync(join(path, 'objects/info'), { recursive: true })
    appendFileSync(join(path, file), text)
    for (const source of [path, `file://${path}`])
      await refusal(source, new RegExp(`${file} has git read what is outside of that repository`))
  }
  const linked = repository(folderOf(t), { '3/a/abc': '' })
  rmSync(join(linked, 'objects'), { recursive: true })
  symlinkSync(join(other, 'objects'), join(linked, 'objects'))
  await refusal(linked, /objects has git read what is outside/)
  const tree = folderOf(t)
  writeFileSync(join(tree, '.git'), `gitdir: ${other}\n`)
  await refusal(`file://${tree}`, /\.git has git read what is outside/)
  const long = repository(folderOf(t), { '3/a/abc': '' })
  truncateSync(join(long, 'HEAD'), 1024 ** 4)
  await refusal(long, /HEAD is larger than the limit/)
})

test("a stranger's object that unpacks to gigabytes ends git, not the machine", async t => {
  const path = repository(folderOf(t), { '3/a/abc': '' })
  // A loose object: only its size is read before the memory is taken.
  const size = 3 * 1024 ** 3
  const bytes = deflateSync(Buffer.from(`commit ${size}\0tree ${'0'.repeat(40)}\n`))
  const id = 'ab'.repeat(20)
  mkdirSync(join(path, 'objects/ab'))
  writeFileSync(join(path, 'objects/ab', id.slice(2)), bytes)
  for (const ref of ['refs/heads/master', 'refs/heads/main'])
    writeFileSync(join(path, ref), `${id}\n`)
  await assert.rejects(openSource({ source: path, crates: folderOf(t) }), error => {
    assert.match(String((error as Error).cause), /attempting to allocate \d+ over limit/)
    return true
  })
})
