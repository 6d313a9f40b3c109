/**
 * `plimsoll deploy` of 100,000 files to an S3 server, next to a script that only puts them there.
 * `PLIMSOLL_BENCH_CRATES` is another number of files.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Name } from '../core/name.ts'
import { configPath, indexPath } from '../core/paths/tree.ts'
import { environmentOf } from '../test/support/s3/environment.ts'
import { type Cost, runToEnd } from './support/command.ts'
import { CLI } from './support/registry.ts'
import { bench, type Servers } from './support/servers.ts'
import { type Measurement, measured } from './support/table.ts'

const FILES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 100_000)
const SIZE = 1500
const SCRIPT = join(dirname(fileURLToPath(import.meta.url)), 'yardsticks', 'put-files.js')

const measure = async (servers: Servers) => {
  const s3 = await servers.s3()
  const tree = join(servers.folder, 'tree')
  fill(tree)
  // Earlier writes must not delay the measurement.
  execFileSync('sync')
  const plain = await runToEnd([SCRIPT, tree, s3.url, 'plain'])
  execFileSync('sync')
  const args = [CLI, 'deploy', '--from', tree, '--to', 's3://test/deployed']
  const deploy = () => runToEnd(args, environmentOf(s3, {}))
  const whole = await deploy()
  const again = await deploy()
  const what = `upload of ${FILES.toLocaleString('en-US')} files`
  return [
    ...rows(what, whole, ['a script that puts them', plain]),
    ...rows('the same when nothing has changed', again, ['the first upload', whole]),
  ]
}
await bench(measure, { onServers: true })

/** Index files of invented names, each with its own hexadecimal digits. */
function fill(tree: string): void {
  const write = (path: string, bytes: Buffer | string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), bytes)
  }
  write(configPath, '{"dl":"https://crates.example/crates"}\n')
  for (let at = 1; at < FILES; at++) {
    const seed = createHash('sha512').update(String(at)).digest('hex')
    write(indexPath(`${seed.slice(0, 4)}-${at}` as Name), seed.repeat(12).slice(0, SIZE))
  }
}

function rows(what: string, own: Cost, [name, other]: readonly [string, Cost]): Measurement[] {
  const row = (key: keyof Cost, words: string, unit: string) =>
    measured(`${what}${words}`, own[key], unit, {}, { name, value: other[key] })
  return [
    row('wall', '', 's'),
    row('processor', ': processor time', 's'),
    row('peak', ': most resident memory', 'MiB'),
  ]
}
