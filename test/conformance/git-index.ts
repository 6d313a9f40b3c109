import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expectCode, run } from '../support/command.ts'
import { until } from '../support/until.ts'
import { type Scenario, says } from './scenario.ts'
import type { Stage } from './stage.ts'

/** The index as a git repository. */
export const gitIndex: readonly Scenario[] = [
  {
    numbers: [60],
    title: '`net.git-fetch-with-cli`: git reads the files of the sparse index, wherever they lie',
    needs: ['repository'],
    async run(stage) {
      await stage.publish({ name: 'foo' }, { name: 'Bar' })
      await clone(stage, '3/b/bar', '"vers":"1.0.0"')
      const cargo = stage.cargo({ registries: { test: `${stage.registry.baseUrl}/index.git` } })
      const app = stage.app('foo = { version = "1", registry = "test" }')
      const withGit = ['--config', 'net.git-fetch-with-cli=true']
      says(await cargo.ok(app, 'check', ...withGit), 'Checking foo v1.0.0 (registry `test`)')
      await stage.publish({ name: 'foo', version: '1.0.1' })
      const folder = await clone(stage, '3/f/foo', '"vers":"1.0.1"')
      const update = 'Updating foo v1.0.0 (registry `test`) -> v1.0.1'
      says(await cargo.ok(app, 'update', ...withGit), update)
      for (const path of ['config.json', '3/f/foo', '3/b/bar']) {
        const file = readFileSync(join(folder, path), 'utf8')
        assert.equal(`200 ${file}`, await stage.read(`/index/${path}`), path)
      }
    },
  },
]

/**
 * Clones the index until the file has the text: commits follow a change without anyone waiting for
 * them.
 */
async function clone(stage: Stage, path: string, text: string): Promise<string> {
  const { baseUrl, cargoEnv } = stage.registry
  const plain = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const options = { cwd: stage.folder, env: { ...plain, ...cargoEnv } }
  let folder = ''
  const hasText = async () => {
    folder = stage.place('clone')
    const cloned = await run('git', ['clone', '-q', `${baseUrl}/index.git`, folder], options)
    expectCode('git clone', cloned, 0)
    return existsSync(join(folder, path)) && readFileSync(join(folder, path), 'utf8').includes(text)
  }
  await until(hasText, () => `${text} is not in ${path} of the repository`)
  return folder
}
