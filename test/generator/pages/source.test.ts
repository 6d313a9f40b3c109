import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { issue, Refusal } from '../../../core/error/error.ts'
import { buildMarks } from '../../../generator/pages/marked.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { sandbox } from '../../../generator/sandbox/sandbox.ts'
import { SandboxError } from '../../../generator/sandbox/thread.ts'
import { pageMarks } from '../../../generator/store/catalog/pages/page-marks.ts'
import { readFileSum } from '../../../site/compare/file-sum.ts'
import { TestRegistry } from '../../support/registry.ts'
import { hookTree } from '../../support/tree-hook.ts'

const LINK = 'href="src/"'
const DIFF = 'href="changes/"'

/** A registry and the paths of the pages that are rendered, in their order. */
async function watched(t: TestContext) {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const written: string[] = []
  const { tree } = registry.registry
  const { batch } = tree
  tree.batch = work =>
    batch.call(tree, inner => {
      const { write } = inner
      inner.write = output => {
        written.push(output.path)
        return write.call(inner, output)
      }
      return work(inner)
    }) as never
  return { registry, token, written }
}

/** What two pages say about the changed files of a version, and what the page of changes sums up. */
async function sums(registry: TestRegistry, folder: string) {
  const shown = async (path: string) => Buffer.from((await registry.shown(path)) ?? '')
  const sum = readFileSum(await shown(`${folder}/changes/index.html`))
  const says = async (path: string) => sum !== '' && (await shown(path)).includes(sum)
  return {
    sum,
    version: await says(`${folder}/index.html`),
    crate: await says('crates/demo/index.html'),
  }
}

test('a small release is rendered once, with links to its source and its changes', async t => {
  const { registry, token, written } = await watched(t)
  for (const version of ['1.0.0', '1.1.0']) {
    await registry.publish(token, { name: 'demo', version })
    await registry.indexWorker.pages.flush()
  }
  const page = (await registry.shown('crates/demo/1.1.0/index.html')) ?? ''
  assert.ok(page.includes(LINK) && page.includes(DIFF))
  const times = (path: string) => written.filter(one => one === path).length
  assert.equal(times('crates/demo/1.1.0/index.html'), 1)
  assert.equal(times('crates/demo/index.html'), 2)
  assert.deepEqual(await sums(registry, 'crates/demo/1.1.0'), {
    sum: '1 file differs: 1 changed; 1 line added, 1 removed.',
    version: true,
    crate: true,
  })
})

test('a large release is shown without these links first, and once more when they lead somewhere', async t => {
  const { registry, token, written } = await watched(t)
  const files = { 'src/lib.rs': '', 'data.bin': randomBytes(64 * 1024) }
  await registry.publish(token, { name: 'demo', version: '1.0.0', files })
  await registry.indexWorker.pages.flush()
  assert.ok((await registry.shown('crates/demo/1.0.0/index.html'))?.includes(LINK))
  assert.ok((await registry.shown('crates/demo/index.html'))?.includes('href="1.0.0/src/"'))
  const mine = written.filter(one =>
    ['crates/demo/1.0.0/index.html', 'crates/demo/1.0.0/src/index.html'].includes(one),
  )
  assert.deepEqual(mine, [
    'crates/demo/1.0.0/index.html',
    'crates/demo/1.0.0/src/index.html',
    'crates/demo/1.0.0/index.html',
  ])
})

test('a release between two others changes only the comparison of the later one', async t => {
  const { registry, token, written } = await watched(t)
  const files = { 'src/lib.rs': '', 'src/more.rs': '' }
  await registry.publish(token, { name: 'demo', version: '1.0.0' })
  await registry.publish(token, { name: 'demo', version: '1.2.0', files })
  await registry.indexWorker.pages.flush()
  const before = await sums(registry, 'crates/demo/1.2.0')
  const compared = async () =>
    /<h1>(.*?)<\/h1>/.exec(
      (await registry.shown('crates/demo/1.2.0/changes/index.html')) ?? '',
    )?.[1]
  assert.equal(await compared(), 'Changes from 1.0.0 to 1.2.0')
  written.length = 0
  await registry.publish(token, { name: 'demo', version: '1.1.0', files })
  await registry.indexWorker.pages.flush()
  assert.equal(await compared(), 'Changes from 1.1.0 to 1.2.0')
  const after = await sums(registry, 'crates/demo/1.2.0')
  assert.notEqual(after.sum, before.sum)
  assert.deepEqual([after.version, after.crate], [true, true])
  assert.ok(!written.includes('crates/demo/1.2.0/src/index.html'))
})

test('a comparison that takes too much says so, and is not tried again', async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  const { run } = sandbox
  t.after(() => {
    sandbox.run = run
  })
  let tried = 0
  sandbox.run = ((task, input) => {
    if (task !== 'compare') return run.call(sandbox, task, input)
    tried++
    return Promise.reject(new SandboxError('memory', 'it takes more than 256 MB of memory'))
  }) as typeof run
  for (const version of ['1.0.0', '1.1.0']) await registry.publish(token, { name: 'demo', version })
  await registry.indexWorker.pages.flush()
  assert.match(
    (await registry.shown('crates/demo/1.1.0/changes/index.html')) ?? '',
    /not compared here because it takes more than 256 MB of memory; the packages have them/,
  )
  assert.equal(tried, 1)
})

test('pages of sources that the storage refuses keep no thread', { timeout: 120_000 }, async t => {
  const registry = await TestRegistry.open(t)
  const token = await registry.user('alice')
  await registry.indexWorker.pages.close(0)
  await registry.publish(token, { name: 'demo', version: '1.0.0' })
  const { registry: context } = registry
  const due = await pageMarks(context.database, context.clock(), 500)
  const source = due.filter(({ kind }) => kind === 'source')
  const unhook = hookTree(context.tree, inner => {
    inner.write = async () => {
      throw new Refusal([issue('storage_full', { reason: 'full' })])
    }
  })
  try {
    // As often as all threads would be taken.
    for (let times = 0; times < sandbox.size; times++)
      await assert.rejects(buildMarks(context, source), /full/)
  } finally {
    unhook()
  }
  await buildPages(context)
  assert.ok(await registry.shown('crates/demo/1.0.0/src/index.html'))
})
