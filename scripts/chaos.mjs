// `npm run chaos [NAME…] [-- --seed N --minutes M …]`: runs the programs of test/chaos/, one after the
// other, until the first that finds a violation. Options go to each of them.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { environment as postgres } from './postgres.mjs'
import { prepare, root } from './prepare.mjs'

const all = readdirSync(join(root, 'test', 'chaos'))
  .filter(file => file.endsWith('.chaos.ts'))
  .map(file => file.replace('.chaos.ts', ''))
  .sort()
const NAMES = 'seed minutes count only p99 public slack keep changes git'.split(' ')
const usage = `npm run chaos [NAME…] -- [--OPTION VALUE…]
NAME: ${all.join(', ')}; all of them by default
OPTION: ${NAMES.join(', ')}; a program ignores those of others`
const args = process.argv.slice(2)
if (args.includes('--help') || args.includes('-h')) {
  console.log(usage)
  process.exit()
}
const { names, options } = read()
const unknown = names.filter(name => !all.includes(name))
if (unknown.length > 0) {
  console.error(`there is no ${unknown.join(', ')}; there are ${all.join(', ')}`)
  process.exit(2)
}
await prepare()
for (const name of names.length > 0 ? names : all) {
  console.log(`\n== ${name}`)
  const program = join(root, 'dist', 'test', 'chaos', `${name}.chaos.js`)
  const { status } = spawnSync(process.execPath, ['--enable-source-maps', program, ...options], {
    cwd: root,
    env: { ...process.env, ...postgres },
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

/** Reads the command line; ends with exit code 2 on an option that no program has. */
function read() {
  const known = Object.fromEntries(NAMES.map(name => [name, { type: 'string' }]))
  try {
    const { values, positionals } = parseArgs({ args, options: known, allowPositionals: true })
    const options = Object.entries(values).flatMap(([name, value]) => [`--${name}`, value])
    return { names: positionals, options }
  } catch (error) {
    console.error(`${error.message}\n${usage}`)
    process.exit(2)
  }
}
