import assert from 'node:assert/strict'
import { it } from 'node:test'
import { minor } from '../../check/cargo.ts'
import { check } from '../../check/check.ts'
import { topics } from '../../check/rows/all.ts'
import type { Need } from '../../check/table.ts'
import { cargoPath, cargoVersion } from '../support/cargo.ts'
import { none } from '../support/none.ts'
import { until } from '../support/until.ts'
import type { Driver } from './driver.ts'
import { Stage } from './stage.ts'

const FOO = '{ package = "foo", version = "1.0", registry = "test"'
const RICH = `
[dependencies]
other = ${FOO}, optional = true }
[target.'cfg(windows)'.build-dependencies]
foo = ${FOO} }
[features]
default = ["plain"]
plain = []
strong = ["dep:other"]
${Array.from({ length: 150 }, (_, at) => `feature-with-a-long-name-${at} = []\n`).join('')}`
const CRATES = [
  ...['a', 'ab', 'abc', 'Upper-Case_Name'].map(name => ({ name })),
  ...['0.9.0', '1.0.0', '1.1.0+b.2'].map(version => ({ name: 'foo', version })),
  {
    name: 'rich',
    package: 'links = "sea"\nrust-version = "1.60"',
    toml: RICH,
    files: { 'build.rs': 'fn main() {}' },
  },
]

/** Registers the statements of `plimsoll check`, which each driver plays. */
export function playStatements(driver: Driver): void {
  for (const isPrivate of driver.isPrivateToo ? [false, true] : [false]) {
    const who = isPrivate ? 'a private registry' : 'a registry'
    it(`every statement of plimsoll check holds of ${who}`, { timeout: 300_000 }, async t => {
      const settings = isPrivate ? { PLIMSOLL_AUTH_REQUIRED: 'true' } : {}
      await playAll(await Stage.open(t, driver, settings), driver, isPrivate)
    })
  }
}

async function playAll(
  stage: Stage,
  { capabilities, lacks = [] }: Driver,
  isPrivate: boolean,
): Promise<void> {
  const { registry } = stage
  const config = '[registry]\nglobal-credential-providers = ["cargo:token"]\n'
  const cargo = stage.cargo(isPrivate ? { config } : {})
  const projects = CRATES.map(crate => stage.crate(crate))
  await registry.publish(cargo, projects)
  await registry.yank(cargo, 'foo', '0.9.0')
  // The files that searches read are complete only some time after the first publish.
  const isReady = async () => !(await stage.read('/api/v1/crates?q=foo')).startsWith('503')
  await until(isReady, () => 'there is no search yet')
  const left: string[] = []
  const results = await check({
    target: registry.indexUrl,
    crates: [...new Set(CRATES.map(({ name }) => name))],
    token: registry.token ?? null,
    prefix: capabilities.includes('api') ? 'check-' : null,
    cargos: [cargoPath],
    statements: Object.values(topics).flat(),
    env: { ...process.env, ...registry.cargoEnv },
    pauseMs: 100,
    signal: new AbortController().signal,
    onResult: () => undefined,
    onLeft: (release, isYanked) => isYanked || left.push(release),
  })
  const failed = results.filter(({ status }) => status === 'fail')
  const ids = failed.map(({ id, seen }) => (lacks.includes(id) ? id : `${id}: ${seen}`))
  assert.deepEqual(ids.sort(), [...lacks].sort())
  assert.deepEqual(left, [])
  const needs: Record<Need, boolean> = {
    ...{ api: capabilities.includes('api'), write: capabilities.includes('api'), cargo: true },
    ...{ http: capabilities.includes('sparse'), git: capabilities.includes('git') },
    ...{ private: isPrivate, public: !isPrivate },
  }
  const due = Object.values(topics)
    .flat()
    .filter(statement => statement.needs.every(need => needs[need]))
    .filter(({ since }) => since === null || minor(since) <= cargoVersion.minor)
    .map(({ id }) => id)
  const others = [capabilities.includes('tls') ? 'http-h2c' : 'http-2']
  const untried = results.flatMap(({ id, status }) => (status === 'untried' ? id : []))
  none(untried.filter(id => due.includes(id) && !others.includes(id)))
}
