/**
 * `plimsoll impact` by the real program, in a static tree of 20,000 crates with 10 versions each,
 * or of `PLIMSOLL_BENCH_CRATES`: a hole that a tenth of them reach, and one that all do. The tree
 * has the files that the command reads, and no others.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SHARDS, shardOf, TOGETHER } from '../../core/impact/dependents.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import { dependentsPath } from '../../core/paths/dependents.ts'
import { configPath, indexPath } from '../../core/paths/tree.ts'
import { hostEnvironment } from '../support/plimsoll.ts'
import { Random } from '../support/random.ts'
import { dependency, entry } from '../support/release.ts'
import { CLI } from './support/registry.ts'
import { bench } from './support/servers.ts'
import { measured } from './support/table.ts'

const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 20_000)
const VERSIONS = Array.from({ length: 10 }, (_, at) => `1.${at}.0`)
const DEPENDENCIES = 10

await bench(async ({ folder }) => {
  const tree = join(folder, 'public')
  writeTree(tree)
  const hook = join(folder, 'hook.cjs')
  const peak = 'process.resourceUsage().maxRSS'
  writeFileSync(hook, `process.on('exit', () => process.stderr.write('peak ' + ${peak}))`)
  const ask = (...words: string[]) => {
    const args = ['-r', hook, CLI, 'impact', ...words, '--dir', tree]
    const begin = performance.now()
    const options = { encoding: 'utf8', env: hostEnvironment(), maxBuffer: 2 ** 30 } as const
    const { stdout, stderr, error } = spawnSync(process.execPath, args, options)
    if (error || stdout === '') throw new Error(stderr, { cause: error })
    const seconds = (performance.now() - begin) / 1000
    return { stdout, seconds, peak: Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024 }
  }
  const few = ask('hole', '--json')
  const many = ask('base', '--json')
  const count = ({ stdout }: typeof few) => {
    const { reaches } = JSON.parse(stdout) as { reaches: { crate: string }[] }
    return new Set(reaches.map(({ crate }) => crate)).size
  }
  return [
    measured('crates that reach the one', count(few), 'crates', { atLeast: CRATES / 10 }),
    measured('the answer', few.seconds, 's', { atMost: 2 }),
    measured('most resident memory', few.peak, 'MiB', { atMost: 100 }),
    measured('crates that reach the other', count(many), 'crates', { atLeast: CRATES - 2 }),
    measured('the answer', many.seconds, 's', { atMost: 8 }),
    measured('most resident memory', many.peak, 'MiB'),
    measured('its report', ask('hole', '--report').seconds, 's'),
  ]
})

/** Writes crates that each require earlier ones: the first tenth also `hole`, the others `base`. */
function writeTree(tree: string): void {
  const random = new Random(1)
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  const dependents = new Map<string, Map<string, string>>()
  const tenth = CRATES / 10
  const nameOf = (at: number) => `made-up-${at}` as Name
  for (let at = -2; at < CRATES; at++) {
    const name = at === -2 ? ('hole' as Name) : at === -1 ? ('base' as Name) : nameOf(at)
    const first = at < tenth ? 0 : tenth
    const needs = new Set<string>(at < 0 ? [] : at < tenth ? ['hole', 'base'] : ['base'])
    // Few are popular.
    while (at >= 0 && needs.size < Math.min(DEPENDENCIES, at - first + 1))
      needs.add(nameOf(first + Math.floor((at - first) * random.next() ** 3)))
    const ways = new Map<string, Map<string, string[]>>()
    const lines = VERSIONS.map(vers => {
      const deps = Array.from(needs, need => dependency(need, `^1.${random.below(3)}`))
      for (const { name: need, req } of deps) {
        const reqs = ways.get(need) ?? new Map<string, string[]>()
        ways.set(need, reqs.set(req, [...(reqs.get(req) ?? []), vers]))
      }
      return JSON.stringify(entry({ name, vers, deps }))
    })
    for (const [need, reqs] of ways) {
      const crates = dependents.get(need) ?? new Map<string, string>()
      const requires = Array.from(reqs, ([requirement, versions]) => {
        return { requirement, kind: 'normal', registry: null, versions }
      })
      dependents.set(need, crates.set(name, JSON.stringify({ crate: name, requires })))
    }
    put(indexPath(name), `${lines.join('\n')}\n`)
  }
  for (const [crate, crates] of dependents) {
    const files = new Map<number | undefined, string[]>()
    for (const [name, text] of crates) {
      const shard = crates.size > TOGETHER ? shardOf(canonicalName(name)) : undefined
      files.set(shard, [...(files.get(shard) ?? []), text])
    }
    for (const [shard, lines] of files)
      put(
        dependentsPath(canonicalName(crate), shard),
        `{"dependents":[\n${lines.join(',\n')}\n]}\n`,
      )
    if (crates.size > TOGETHER) put(dependentsPath(canonicalName(crate)), `{"shards":${SHARDS}}\n`)
  }
  put(configPath, '{}\n')
  execFileSync('sync')
}
