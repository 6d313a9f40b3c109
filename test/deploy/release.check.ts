// `npm run check:deploy`: `npm run release` of this commit makes the same bytes twice, in a checkout of
// its own each time, and refuses a checkout with other files. It installs all packages twice.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { sumsBelow } from '../support/folder.ts'
import { root } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'

const MINUTES = 60_000

test('a release is the same bytes twice, names its commit everywhere, and is made of a commit alone', async t => {
  const folder = scratch(new Cleanup(t))
  const release = async (name: string) => {
    const checkout = join(folder, name)
    execFileSync('git', ['clone', '--quiet', root, checkout])
    const args = [join('scripts', 'release.mjs'), join(folder, `out-${name}`)]
    return () =>
      run(process.execPath, args, { cwd: checkout, env: process.env, timeoutMs: 10 * MINUTES })
  }
  const [first, second] = [await release('first'), await release('second')]
  for (const ended of await Promise.all([first(), second()])) expectCode('release', ended, 0)
  const sums = sumsBelow(join(folder, 'out-first'))
  assert.deepEqual(sumsBelow(join(folder, 'out-second')), sums)
  const listed = readFileSync(join(folder, 'out-first', 'SHA256SUMS'), 'utf8')
  const files = readdirSync(join(folder, 'out-first')).filter(name => name !== 'SHA256SUMS')
  assert.equal(listed, files.map(name => `${sums.get(name)}  ${name}\n`).join(''))

  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const ends = ['-chart.tgz', '-image.tar.gz', '-source.tar.gz', '.cdx.json', '.tgz']
  assert.deepEqual(
    files,
    ends.map(end => `plimsoll-${version}${end}`),
  )
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root }).toString()
  const read = (end: string, path: string) =>
    execFileSync('tar', ['-xOzf', join(folder, 'out-first', `plimsoll-${version}${end}`), path])
  for (const [end, path] of [
    ['.tgz', 'package/dist/commit'],
    ['-image.tar.gz', 'scripts/commit.txt'],
    ['-source.tar.gz', `plimsoll-${version}/scripts/commit.txt`],
  ] as const)
    assert.equal(read(end, path).toString(), commit, path)
  assert.match(read('-chart.tgz', 'plimsoll/Chart.yaml').toString(), /^name: plimsoll$/m)

  appendFileSync(join(folder, 'first', 'README.md'), 'changed\n')
  const refused = await first()
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^error: a release is made of a commit, .*\n M README\.md\n/)
})
