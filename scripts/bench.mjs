// `npm run bench [NAME…]`: runs the measurements of bench/, each a program of its own. A NAME is
// that of a program, or the beginning of several.
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { prepare, root } from './prepare.mjs'

prepare()
const END = '.bench.js'
const all = readdirSync(join(root, 'dist', 'bench'))
  .filter(file => file.endsWith(END))
  .map(file => file.slice(0, -END.length))
  .sort()
const asked = process.argv.slice(2)
const names = asked.flatMap(name => {
  const found = all.includes(name) ? [name] : all.filter(one => one.startsWith(name))
  if (found.length === 0) {
    console.error(`there is no measurement ${name}; there are ${all.join(', ')}`)
    process.exit(2)
  }
  return found
})

for (const name of asked.length === 0 ? all : names) {
  console.log(`\n== ${name}: ${circumstances()}`)
  const program = join(root, 'dist', 'bench', `${name}${END}`)
  const result = spawnSync(process.execPath, ['--enable-source-maps', program], {
    cwd: root,
    stdio: 'inherit',
  })
  if (result.status !== 0) process.exit(result.status ?? 1)
}

/** What a figure means nothing without. */
function circumstances() {
  const git = ['describe', '--always', '--dirty', '--exclude=*']
  const commit = execFileSync('git', git, { cwd: root, encoding: 'utf8' }).trim()
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`
  // A busy machine makes every wall-clock time worse, and processor times somewhat.
  const load = (loadavg()[0] ?? 0).toFixed(1)
  return `commit ${commit}, ${date} UTC, ${machine}, load before ${load}`
}
