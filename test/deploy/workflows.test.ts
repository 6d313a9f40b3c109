// Mirrors .github/ and the workflows in deploy/
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { parseDockerfile } from '../support/dockerfile.ts'
import { root } from '../support/plimsoll.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

type Job = {
  'timeout-minutes'?: number
  container?: { image: string }
  steps: { uses?: string; run?: string; with?: Record<string, string> }[]
}
const jobsOf = (file: string): [string, Job][] => Object.entries(parse(read(file)).jobs)
/** An action by its commit, which nobody can move, or one of the same repository. */
const ACTION = /^(?:[\w/-]+@[0-9a-f]{40}|\.\/\.github\/actions\/setup-plimsoll)$/

test('workflows fix their actions by commit; a release is published with provenance', () => {
  const pages = ['publish', 'crate'].flatMap(name => jobsOf(`deploy/pages/${name}.yml`))
  for (const [name, job] of pages) assert.ok((job['timeout-minutes'] ?? 999) <= 30, name)
  const release = jobsOf('deploy/release/release.yml')
  const steps = [...pages, ...release].flatMap(([, job]) => job.steps)
  for (const { uses } of steps) if (uses) assert.match(uses, ACTION)
  const { jobs } = parse(read('deploy/release/release.yml'))
  assert.equal(jobs.release.permissions['id-token'], 'write')
  assert.ok(steps.some(({ run }) => run?.startsWith('npm publish --provenance ')))
  // Of the action, what follows `with` is there, and nothing that has to be is left out.
  const { inputs, runs } = parse(read('deploy/pages/setup-plimsoll/action.yml'))
  assert.equal(runs.using, 'composite')
  for (const { shell } of runs.steps) assert.equal(shell, 'bash')
  const given = pages.flatMap(([, job]) => job.steps).filter(({ uses }) => uses?.startsWith('./'))
  assert.equal(given.length, 2)
  for (const { with: words = {} } of given) {
    assert.ok(Object.keys(words).every(name => Object.hasOwn(inputs, name)))
    for (const name of ['from', 'version']) assert.ok(Object.hasOwn(words, name))
  }
})

test('the workflow of this project runs .ci/run on pushes and pull requests, and may only read', () => {
  const file = '.github/workflows/ci.yml'
  const { on, permissions } = parse(read(file))
  assert.deepEqual(Object.keys(on), ['push', 'pull_request'])
  assert.deepEqual(permissions, { contents: 'read' })
  const jobs = jobsOf(file)
  for (const [name, job] of jobs) {
    assert.ok((job['timeout-minutes'] ?? 999) <= 45, name)
    for (const { uses } of job.steps) if (uses) assert.match(uses, ACTION)
    // The system of the image, for whose packages .ci/run is made.
    assert.equal(job.container?.image, parseDockerfile(read('Dockerfile'))[0]?.base)
  }
  const commands = jobs.flatMap(([, job]) => job.steps.map(({ run }) => run))
  assert.ok(commands.includes('bash .ci/run'))
  // The same action is the same everywhere.
  const others = [
    'deploy/pages/publish.yml',
    'deploy/pages/crate.yml',
    'deploy/release/release.yml',
  ]
  const used = [file, ...others].flatMap(jobsOf).flatMap(([, { steps }]) => steps)
  const commits = new Set(used.flatMap(({ uses }) => uses ?? []))
  assert.equal(commits.size, new Set([...commits].map(uses => uses.split('@')[0])).size)
})

test('the forms for issues have what GitHub needs, and ask for version, way, message and check', () => {
  type Form = { body: { type: string; id?: string; attributes: Record<string, unknown> }[] }
  const forms = ['bug', 'wish'].map(name => {
    const form = parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)) as Form & Record<string, unknown>
    for (const key of ['name', 'description']) assert.equal(typeof form[key], 'string', key)
    const { body } = form
    for (const { type, attributes } of body) {
      assert.ok(['markdown', 'textarea', 'input', 'dropdown'].includes(type), type)
      assert.ok(attributes[type === 'markdown' ? 'value' : 'label'], type)
    }
    const ids = body.flatMap(({ id }) => id ?? [])
    assert.equal(new Set(ids).size, ids.length)
    return ids
  })
  const [bug = [], wish = []] = forms
  for (const id of ['version', 'way', 'message', 'check']) assert.ok(bug.includes(id), id)
  for (const id of ['version', 'way']) assert.ok(wish.includes(id), id)
})
