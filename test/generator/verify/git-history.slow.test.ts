import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { GitIndex, gitIndexPath } from '../../../generator/git/git-index.ts'
import { openRegistry } from '../../../generator/open.ts'
import { build } from '../../../generator/pages/build.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { initRegistry, type Registry } from '../../../generator/registry/registry.ts'
import { verify } from '../../../generator/verify/verify.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { findingsOf } from '../../support/findings.ts'
import { git } from '../../support/git.ts'
import { scratch } from '../../support/scratch.ts'
import { addCrate, folderOf, reopen } from '../../support/workplace.ts'

const COMMITS = 4

let template: Promise<string> | undefined

/** A registry that insists on its git index, and a history of four commits; objects are loose, one file each. */
async function scene(t: TestContext): Promise<Registry> {
  template ??= makeTemplate()
  const dir = join(folderOf(t), 'registry')
  cpSync(await template, dir, { recursive: true })
  return reopen(t, dir)
}

const shared = scratch(new Cleanup({ after }))

async function makeTemplate(): Promise<string> {
  const dir = join(shared, 'registry')
  const values = { 'git.index': 'on', 'git.engine': 'git' }
  await initRegistry(dir, { env: {} }, { 'registry.base_url': 'https://crates.example', ...values })
  const registry = await openRegistry(dir, { env: {} })
  const index = await GitIndex.open(registry)
  assert.ok(index)
  for (let minor = 0; minor < COMMITS; minor++) {
    await addCrate(registry, { name: 'demo', version: `1.${minor}.0` })
    await build(registry)
    await index.commit()
  }
  await buildPages(registry)
  await index.close()
  await registry.close()
  unpack(registry)
  return dir
}

/** Makes every object a file of its own, so that a test can damage just one. */
function unpack(registry: Registry): void {
  const repository = gitIndexPath(registry)
  const folder = join(repository, 'objects', 'pack')
  const packs = readdirSync(folder).filter(name => name.endsWith('.pack'))
  const inputs = packs.map(name => readFileSync(join(folder, name)))
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  for (const input of inputs)
    execFileSync('git', ['--git-dir', repository, 'unpack-objects', '-q'], { input })
}

function objectPath(repository: string, revision: string): string {
  const id = git(repository, 'rev-parse', revision)
  return join(repository, 'objects', id.slice(0, 2), id.slice(2))
}

function spoil(repository: string, revision: string): void {
  const path = objectPath(repository, revision)
  chmodSync(path, 0o644)
  writeFileSync(path, 'no object')
}

async function findings(registry: Registry, repair: boolean): Promise<string[]> {
  const findings = await findingsOf(verify(registry, { repair, served: false }))
  return findings.filter(line => /^(?:repaired )?index\.git/.test(line))
}

const HEAD_MISSING =
  /^index\.git: HEAD points at commit [0-9a-f]{40}, which is missing or cannot be/
const FIRST = `HEAD~${COMMITS - 1}`
const FSCK = /^index\.git: `git fsck` failed: /
const branch = (repository: string) => join(repository, 'refs', 'heads', 'master')

const damages: [what: string, found: RegExp, harm: (repository: string) => void][] = [
  ['a HEAD that was deleted', /^index\.git: HEAD is missing/, at => rmSync(join(at, 'HEAD'))],
  [
    'a HEAD that is not a branch',
    /^index\.git: .*a HEAD that is not a branch/,
    at => writeFileSync(join(at, 'HEAD'), 'nonsense\n'),
  ],
  [
    'a branch that was deleted',
    /^index\.git: HEAD leads to a branch without a commit/,
    at => rmSync(branch(at)),
  ],
  [
    'a branch that points at no commit there ever was',
    HEAD_MISSING,
    at => writeFileSync(branch(at), `${'12'.repeat(20)}\n`),
  ],
  ['a newest commit that is gone', HEAD_MISSING, at => rmSync(objectPath(at, 'HEAD'))],
  ['a newest commit that is spoiled', HEAD_MISSING, at => spoil(at, 'HEAD')],
  ['a spoiled file in the newest commit', FSCK, at => spoil(at, 'HEAD:de/mo/demo')],
  ['a file gone for two commits', FSCK, at => rmSync(objectPath(at, 'HEAD~1:de/mo/demo'))],
  ['a first commit that is gone', FSCK, at => rmSync(objectPath(at, FIRST))],
]

for (const [what, finding, harm] of damages)
  test(`${what} is named, and repairing starts the history over`, async t => {
    const registry = await scene(t)
    assert.deepEqual(await findings(registry, false), [])
    harm(gitIndexPath(registry))
    const [seen = ''] = await findings(registry, false)
    assert.match(seen, finding)
    assert.match((await findings(registry, false))[0] ?? '', finding, 'looking does not mend')
    const [mended = ''] = await findings(registry, true)
    assert.match(mended, new RegExp(finding.source.replace('^', '^repaired ')))
    assert.match(mended, /; its history starts over$/)
    assert.deepEqual(await findings(registry, false), [])
    assert.equal(git(gitIndexPath(registry), 'rev-list', '--count', 'HEAD'), '1')
    git(gitIndexPath(registry), 'fsck', '--strict')
    const beside = readdirSync(registry.tree.root).filter(name => name.startsWith('index.git'))
    assert.deepEqual(beside, ['index.git'])
  })
