/**
 * `node dist/bench/peers/check.js [NAME…]`: has `plimsoll check` ask other registries, all or those
 * that are named, and renders docs/use/check-results.md. They are compiled once and kept in the user's
 * cache, which takes hours; so nothing runs this by itself. Results of the others stay as they are.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Result } from '../../../check/check.ts'
import { WEIGHTS } from '../../../check/table.ts'
import { freePort } from '../../support/loopback.ts'
import { root } from '../../support/plimsoll.ts'
import type { Program } from '../support/program.ts'
import { CLI } from '../support/registry.ts'
import { type Peer, peers } from './registries.ts'

/** What a registry answered, and when. */
interface Outcome {
  readonly date: string
  readonly command: string
  readonly cargo: string
  readonly holding: number
  readonly untried: number
  readonly failing: readonly Pick<Result, 'id' | 'weight' | 'seen'>[]
}

/** What failing statements mean; `documents` is what the registry itself says of it. */
interface Remark {
  readonly ids: readonly string[]
  readonly effect: string
  readonly documents?: string
}
/** By registry; those of `all` are for every one that has none of its own. */
type Remarks = Readonly<
  Record<string, { readonly about: string; readonly rows: readonly Remark[] }>
>

const file = (...path: readonly string[]) => join(root, ...path)
const RESULTS = file('test', 'bench', 'peers', 'results.json')
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

const outcomes: Record<string, Outcome> = json(RESULTS)
const asked = process.argv.slice(2)
for (const [name, peer] of Object.entries(peers)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  console.error(`${peer.title} ${peer.version} …`)
  outcomes[name] = await ask(peer)
  writeFileSync(RESULTS, `${JSON.stringify(outcomes, null, 2)}\n`)
}
writeFileSync(
  file('docs', 'use', 'check-results.md'),
  page(json(file('test', 'bench', 'peers', 'remarks.json'))),
)

async function ask({ start }: Peer): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-peer-'))
  let program: Program | null = null
  try {
    const port = await freePort()
    const ready = await start(dir, port)
    program = ready.program
    const { target, token, crates = [], env = {} } = ready
    const named = crates.flatMap(name => ['--crate', name])
    const writing = token === null ? [] : ['--write', '--token-stdin', '--yes']
    const args = ['check', target, ...writing, '--cargo', 'cargo', '--json']
    const results = await new Promise<Result[]>((resolve, reject) => {
      const options = { maxBuffer: 64 * 1024 ** 2, env: { ...process.env, ...env } }
      const child = execFile(process.execPath, [CLI, ...args, ...named], options, (error, out) =>
        error && error.code !== 1 ? reject(error) : resolve(JSON.parse(out)),
      )
      child.stdin?.end(token ?? '')
    })
    const having = (status: Result['status']) => results.filter(each => each.status === status)
    return {
      date: new Date().toISOString().slice(0, 10),
      command: [...Object.entries(env).map(set => set.join('=')), 'plimsoll', ...args]
        .join(' ')
        .replace(dir, '/srv')
        .replace(`:${port}`, ':8000'),
      cargo: results.find(({ cargo }) => cargo !== null)?.cargo ?? '',
      holding: having('pass').length,
      untried: having('untried').length,
      failing: having('fail').map(({ id, weight, seen }) => ({ id, weight, seen })),
    }
  } finally {
    await program?.stop('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
}

function page(remarks: Remarks): string {
  const entries = Object.keys(peers).flatMap(name => {
    const [peer, outcome] = [peers[name], outcomes[name]]
    return peer && outcome ? [{ name, ...peer, ...outcome }] : []
  })
  const head = ['registry', 'asked on', 'hold', ...WEIGHTS.map(weight => `fail: ${weight}`)]
  const counts = entries.map(({ title, version, date, holding, failing, untried }) => {
    const count = WEIGHTS.map(weight => failing.filter(each => each.weight === weight).length)
    return row([
      `[${title}](#${anchor(title, version)}) ${version}`,
      date,
      holding,
      ...count,
      untried,
    ])
  })
  const overview = [row([...head, 'not tried']), row([...head, ''].map(() => '---')), ...counts]
  const chapters = entries.map(({ name, title, version, home, date, command, cargo, failing }) => {
    const { about, rows } = remarks[name] ?? { about: '', rows: [] }
    const lines = failing.map(({ id, weight }) => {
      const of = (list: readonly Remark[]) => list.find(({ ids }) => ids.includes(id))
      const remark = of(rows) ?? of(remarks.all?.rows ?? [])
      if (!remark) throw new Error(`test/bench/peers/remarks.json says nothing of ${name}: ${id}`)
      return { id, weight, remark }
    })
    const table = [...new Set(lines.map(({ remark }) => remark))].map(remark => {
      const own = lines.filter(line => line.remark === remark)
      const weight = WEIGHTS.find(weight => own.some(line => line.weight === weight))
      const ids = own.map(({ id }) => `\`${id}\``).join(', ')
      return row([ids, weight ?? '', remark.effect, remark.documents ?? 'nothing found'])
    })
    const titles = ['statements that fail', 'at worst', 'what it means', 'its documents']
    return `## ${title} ${version}

From [its source](${home}), asked on ${date} with Cargo ${cargo}. ${about}

\`${command}\`

${[row(titles), row(titles.map(() => '---')), ...table].join('')}`
  })
  return `# What other registries answer

${remarks.all?.about}

${overview.join('')}
${chapters.join('\n')}`
}

function row(cells: readonly unknown[]): string {
  return `| ${cells.join(' | ')} |\n`
}

function anchor(title: string, version: string): string {
  return `${title} ${version}`.toLowerCase().replaceAll('.', '').replaceAll(' ', '-')
}
