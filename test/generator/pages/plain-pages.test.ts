// Mirrors generator/pages/pages.ts
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { buildPages } from '../../../generator/pages/pages.ts'
import { listPlainPages, writeFailure } from '../../../generator/records/pages/plain-pages.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { inspectArchive, sandbox } from '../../../generator/sandbox/sandbox.ts'
import { SandboxError } from '../../../generator/sandbox/thread.ts'
import { verifyPages } from '../../../generator/verify/pages.ts'
import { findingsOf } from '../../support/findings.ts'
import { BOMBS } from '../../support/hostile.ts'
import { addCrate, newRegistry } from '../../support/workplace.ts'

function pageOf(registry: Registry, path: string): string {
  return readFileSync(registry.tree.path(path), 'utf8')
}

const README = 'readme = "README.md"'

const findings = (registry: Registry) =>
  findingsOf(verifyPages(registry, { repair: false, served: false }))

test('hostile READMEs keep no other page from being rendered, and verify finds nothing', async t => {
  const registry = await newRegistry(t)
  const texts = [
    BOMBS['formatting with ids in paragraphs'] ?? '',
    '<constructor class="__proto__">',
    BOMBS['addresses with brackets to link'] ?? '',
  ]
  for (const [at, text] of texts.entries()) {
    const files = { 'src/lib.rs': '', 'README.md': text }
    await addCrate(registry, { name: `hostile-${at}`, version: '1.0.0', manifest: README, files })
  }
  assert.deepEqual(await buildPages(registry), { crates: 3, issues: [], areLeft: false })
  assert.match(
    pageOf(registry, 'crates/hostile-0/index.html'),
    /shown as plain text because it has too many elements\./,
  )
  assert.deepEqual(await findings(registry), [])
  // Bounds of the renderer itself: nothing was tried that would have to be remembered.
  assert.deepEqual(await listPlainPages(registry.database, 10), [])
})

test('what takes too much is plain text with the reason, remembered, and not tried again', async t => {
  const registry = await newRegistry(t)
  const files = { 'src/lib.rs': 'fn main() {}', 'README.md': '# Heading' }
  await addCrate(registry, { name: 'demo', version: '1.0.0', manifest: README, files })
  const tried: string[] = []
  const { run } = sandbox
  t.mock.method(sandbox, 'run', async (...asked: Parameters<typeof run>) => {
    const [task] = asked
    tried.push(task)
    if (task === 'inspect')
      return { release: { files: [{ path: 'x'.repeat(2 ** 21) }] }, issues: [] }
    if (task === 'readme') throw new SandboxError('failure', 'TypeError: no\n  at a line')
    if (task === 'files') throw new SandboxError('time', 'it takes more than 20 seconds')
    return Reflect.apply(run, sandbox, asked)
  })
  await forgetInspected()
  assert.deepEqual(await buildPages(registry), { crates: 1, issues: [], areLeft: false })
  const readme =
    '<p class="notice">This README is shown as plain text because it cannot be rendered.</p><div class="readme"><pre class="plain-text" tabindex="0"># Heading</pre></div>'
  for (const path of ['crates/demo/index.html', 'crates/demo/1.0.0/index.html'])
    assert.ok(pageOf(registry, path).includes(readme), path)
  const source = pageOf(registry, 'crates/demo/1.0.0/src/index.html')
  assert.match(source, /The list of files could not be read from the package\./)
  const [plain, ...others] = await listPlainPages(registry.database, 10)
  assert.deepEqual(
    [plain?.name, plain?.version, plain?.what, plain?.because, plain?.detail],
    ['demo', '1.0.0', 'readme', 'it cannot be rendered', 'TypeError: no\n  at a line'],
  )
  assert.deepEqual(others, [])
  tried.length = 0
  await buildPages(registry, { all: true })
  assert.deepEqual(tried, ['files'])
  assert.deepEqual(await findings(registry), [])
})

test('a failure is recorded once for a release, and not for one that was deleted', async t => {
  const registry = await newRegistry(t)
  await addCrate(registry, { name: 'demo', version: '1.0.0' })
  for (const because of ['it takes too long', 'it takes too much memory']) {
    await writeFailure(registry.database, 1, '1', { because, detail: null })
    const [row, ...others] = await listPlainPages(registry.database, 10)
    assert.equal(row?.because, because)
    assert.deepEqual(others, [])
  }
  const failure = { because: 'it takes too long', detail: null }
  await writeFailure(registry.database, 2, '1', failure)
  assert.equal((await listPlainPages(registry.database, 10)).length, 1)
})

/** Other archives take the place of those whose lists of files are remembered. */
async function forgetInspected(): Promise<void> {
  for (const cksum of ['a', 'b', 'c'])
    await inspectArchive(new Uint8Array(), { cksum } as Parameters<typeof inspectArchive>[1])
}
