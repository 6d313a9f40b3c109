import assert from 'node:assert/strict'
import { it } from 'node:test'
import { check } from '../../generator/check/check.ts'
import { subjects } from '../../generator/check/rows/all.ts'
import type { Need } from '../../generator/check/table.ts'
import { cargoPath } from '../support/cargo.ts'
import type { Capability, Driver } from './driver.ts'
import { Stage } from './stage.ts'

const FILES = { 'build.rs': 'fn main() {}' }
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
`

/** Registers the statements of `plimsoll check`, which each driver plays, as a registry for some, too. */
export function playStatements(driver: Driver): void {
  const has = (all: readonly Capability[]) => all.every(each => driver.capabilities.includes(each))
  const hasApi = has(['api'])
  // With a git index, git asks for the token: `privacy-git.ts` has that.
  for (const isPrivate of has(['api', 'sparse']) ? [false, true] : [false]) {
    const who = isPrivate ? 'a private registry' : 'a registry'
    it(`every statement of plimsoll check holds of ${who}`, { timeout: 300_000 }, async t => {
      const settings = isPrivate ? { PLIMSOLL_AUTH_REQUIRED: 'true' } : {}
      const stage = await Stage.open(t, driver, settings)
      const { registry } = stage
      const simple = ['a', 'ab', 'abc', 'Upper-Case_Name'].map(name => ({ name }))
      const foo = ['0.9.0', '1.0.0', '1.1.0+b.2'].map(version => ({ name: 'foo', version }))
      const rich = {
        name: 'rich',
        package: 'links = "sea"\nrust-version = "1.60"',
        toml: RICH,
        files: FILES,
      }
      const config = '[registry]\nglobal-credential-providers = ["cargo:token"]\n'
      const cargo = stage.cargo(isPrivate ? { config } : {})
      const all = [...simple, ...foo, rich].map(crate => stage.crate(crate))
      await registry.publish(cargo, all)
      await registry.yank(cargo, 'foo', '0.9.0')
      const left: string[] = []
      const results = await check({
        target: registry.indexUrl,
        crates: [...new Set(all.map(({ name }) => name))],
        token: registry.api?.token ?? null,
        prefix: hasApi ? 'check-' : null,
        cargos: [cargoPath],
        env: { ...process.env, ...registry.cargoEnv },
        pauseMs: 100,
        signal: new AbortController().signal,
        onResult: () => undefined,
        onLeft: (release, isYanked) => isYanked || left.push(release),
      })
      const seen = (status: string) =>
        results.filter(result => result.status === status).map(({ id, seen }) => `${id}: ${seen}`)
      // A static tree depends on nothing but the bytes of its crates.
      const late = registry.stampsReleases
        ? []
        : ['line-pubtime-there: a 1.0.0: `pubtime` is missing']
      assert.deepEqual(seen('fail'), late)
      assert.deepEqual(left, [])
      const lacks: readonly Need[] = [
        ...(hasApi ? [] : (['api', 'write'] as const)),
        ...(has(['sparse']) ? [] : (['http'] as const)),
        ...(has(['git']) ? [] : (['git'] as const)),
        isPrivate ? 'public' : 'private',
      ]
      const untried = new Set(results.flatMap(({ id, status }) => (status === 'untried' ? id : [])))
      const expected = Object.values(subjects)
        .flat()
        .filter(({ needs }) => needs.some(need => lacks.includes(need)))
        .map(({ id }) => id)
      const wire = has(['tls']) ? 'http-h2c' : 'http-2'
      const others = [...untried].filter(id => id !== wire && !expected.includes(id))
      // The index files of this registry are short.
      assert.deepEqual(others, has(['sparse']) ? ['http-gzip'] : [])
    })
  }
}
