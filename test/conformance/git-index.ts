import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expectCode, run } from '../support/command.ts'
import { until } from '../support/until.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

const FOO = 'foo = { version = "1", registry = "test" }'

/** The index as a git repository. */
export const gitIndex: readonly Scenario[] = [
  scenario(
    60,
    'publish::wait_for_git_publish: cargo fetches until it sees the release',
    ['git', 'api'],
    async stage => {
      const { folder } = stage.crate({ name: 'foo' })
      const published = await stage
        .cargo()
        .ok(folder, 'publish', '--no-verify', '--allow-dirty', '--registry', 'test')
      says(published, 'Published foo v1.0.0 at registry `test`')
      const { requests } = stage.registry
      const sent = requests.lines.indexOf('PUT /api/v1/crates/new 200')
      assert.ok(sent > 0)
      assert.ok(
        requests.lines.slice(sent + 1).includes('POST /index.git/git-upload-pack 200'),
        requests.lines.join('\n'),
      )
      assert.deepEqual(
        requests.lines.filter(line => line.includes('/index/')),
        [],
      )
    },
    { since: 66 },
  ),

  scenario(
    60,
    'the lockfile names the repository, an update without news asks for the refs alone',
    ['git'],
    async stage => {
      await stage.publish({ name: 'foo' })
      const app = stage.app(FOO)
      const cargo = stage.cargo()
      await cargo.ok(app, 'check')
      const source = `source = "registry+${stage.registry.indexUrl}"`
      assert.ok(readFileSync(join(app, 'Cargo.lock'), 'utf8').includes(source))
      stage.registry.requests.clear()
      await cargo.ok(app, 'update')
      const refs = 'GET /index.git/info/refs?service=git-upload-pack 200'
      // Protocol version 2, which the git executable speaks, asks for the refs in a separate
      // request.
      const list = stage.registry.cargoEnv?.CARGO_NET_GIT_FETCH_WITH_CLI
        ? ['POST /index.git/git-upload-pack 200']
        : []
      assert.deepEqual(stage.registry.requests.lines, [refs, ...list])
    },
  ),

  scenario(
    60,
    '`net.git-fetch-with-cli`: the git executable reads index.git, wherever it lies',
    ['repository'],
    async stage => {
      await stage.publish({ name: 'foo', version: '1.0.0' })
      await clone(stage, '3/f/foo', '"vers":"1.0.0"')
      const cargo = stage.cargo({ registries: { test: `${stage.registry.baseUrl}/index.git` } })
      const app = stage.app(FOO)
      const withGit = ['--config', 'net.git-fetch-with-cli=true']
      says(await cargo.ok(app, 'check', ...withGit), 'Checking foo v1.0.0 (registry `test`)')
      await stage.publish({ name: 'foo', version: '1.0.1' })
      await clone(stage, '3/f/foo', '"vers":"1.0.1"')
      says(
        await cargo.ok(app, 'update', ...withGit),
        'Updating foo v1.0.0 (registry `test`) -> v1.0.1',
      )
    },
  ),

  scenario(
    60,
    'the repository has the files of the sparse index, byte for byte',
    ['repository'],
    async stage => {
      await stage.publish(
        { name: 'foo', version: '1.0.0' },
        { name: 'Bar' },
        { name: 'foo', version: '1.0.1' },
      )
      const folder = await clone(stage, '3/f/foo', '"vers":"1.0.1"')
      for (const path of ['config.json', '3/f/foo', '3/b/bar']) {
        assert.equal(readFileSync(join(folder, path), 'utf8'), await stage.index(path), path)
      }
    },
  ),
]

/**
 * Clones the index until the file has the text: commits follow a change without anyone waiting for
 * them.
 */
async function clone(stage: Stage, path: string, text: string): Promise<string> {
  const url = `${stage.registry.baseUrl}/index.git`
  const plain = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const env = { ...plain, ...stage.registry.cargoEnv }
  let folder = ''
  const hasText = async () => {
    folder = stage.place('clone')
    expectCode(
      'git clone',
      await run('git', ['clone', '--quiet', url, folder], { cwd: stage.folder, env }),
      0,
    )
    return existsSync(join(folder, path)) && readFileSync(join(folder, path), 'utf8').includes(text)
  }
  await until(hasText, () => `${text} is not in ${path} of the repository`)
  return folder
}
