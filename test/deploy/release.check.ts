// `npm run check:deploy`: `npm run release` in a checkout of its own makes the same bytes as in this one,
// refuses other files, and signs. It installs all packages once more.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { sumsBelow } from '../support/folder.ts'
import { root } from '../support/plimsoll.ts'
import { RELEASE, VERSION } from '../support/released.ts'
import { scratch } from '../support/scratch.ts'

const MINUTES = 60_000

test('a release is the same bytes twice, names its commit everywhere, and is made of a commit alone', async t => {
  const folder = scratch(new Cleanup(t))
  const [checkout, out] = [join(folder, 'checkout'), join(folder, 'out')]
  execFileSync('git', ['clone', '--quiet', root, checkout])
  const release = (signer: string) => {
    const args = [join('scripts', 'release.mjs'), out, '--sign-with', signer]
    const options = { cwd: checkout, env: process.env, timeoutMs: 20 * MINUTES }
    return run(process.execPath, args, options)
  }
  // A signer fails, and so does the release; what it would have signed is there by then.
  const signer = 'f() { cp "$2" "$2.$1" && exit 3; }; f signed'
  assert.match(expectCode('release', await release(signer), 1).stderr, /^error: sh .* failed: 3$/m)
  const sums = sumsBelow(out)
  assert.equal(sums.get('SHA256SUMS.signed'), sums.get('SHA256SUMS'))
  sums.delete('SHA256SUMS.signed')
  assert.deepEqual(sumsBelow(RELEASE), sums)
  const noted = readFileSync(join(out, 'SHA256SUMS'), 'utf8')
  const files = readdirSync(RELEASE).filter(name => name !== 'SHA256SUMS')
  assert.equal(noted, files.map(name => `${sums.get(name)}  ${name}\n`).join(''))

  const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']
  const archives = platforms.map(name => `-${name}.tar.gz`)
  const others = ['-chart.tgz', '-image.tar.gz', '-source.tar.gz', '.cdx.json', '.tgz']
  assert.deepEqual(
    files,
    [
      ...[...archives, ...others].map(end => `plimsoll-${VERSION}${end}`),
      ...['amd64', 'arm64'].map(name => `plimsoll_${VERSION}_${name}.deb`),
    ].sort(),
  )
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root }).toString()
  const read = (end: string, path: string) =>
    execFileSync('tar', ['-xOzf', join(out, `plimsoll-${VERSION}${end}`), path], {
      maxBuffer: 2 ** 28,
    })
  for (const [end, path] of [
    ['.tgz', 'package/dist/commit'],
    ['-linux-x64.tar.gz', `plimsoll-${VERSION}-linux-x64/dist/commit`],
    ['-source.tar.gz', `plimsoll-${VERSION}/scripts/commit.txt`],
  ] as const)
    assert.equal(read(end, path).toString(), commit, path)
  assert.match(read('-chart.tgz', 'plimsoll/Chart.yaml').toString(), /^name: plimsoll$/m)
  const archive = `dist/release/plimsoll-${VERSION}-linux-x64.tar.gz`
  assert.ok(read('-image.tar.gz', archive).equals(readFileSync(join(root, archive))))

  appendFileSync(join(checkout, 'README.md'), 'changed\n')
  const refused = await release('true')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^error: a release is made of a commit, .*\n M README\.md\n/)
})
