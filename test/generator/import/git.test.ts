// Mirrors generator/import/source/git.ts
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
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
