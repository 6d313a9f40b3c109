// `npm run chaos [NAME…] [-- --seed N --minutes M …]`: runs the programs of chaos/, one after the
// other, until the first that finds a violation. Options go to each of them.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { environment as postgres } from './postgres.mjs'
import { prepare, root } from './prepare.mjs'

await prepare()
const args = process.argv.slice(2)
const first = args.findIndex(arg => arg.startsWith('-'))
const names = first < 0 ? args : args.slice(0, first)
const options = first < 0 ? [] : args.slice(first)
const all = readdirSync(join(root, 'dist', 'chaos'))
  .filter(file => file.endsWith('.chaos.js'))
  .map(file => file.replace('.chaos.js', ''))
  .sort()
const unknown = names.filter(name => !all.includes(name))
if (unknown.length > 0) {
  console.error(`there is no ${unknown.join(', ')}; there are ${all.join(', ')}`)
  process.exit(2)
}
for (const name of names.length > 0 ? names : all) {
  console.log(`\n== ${name}`)
  const program = join(root, 'dist', 'chaos', `${name}.chaos.js`)
  const { status } = spawnSync(process.execPath, ['--enable-source-maps', program, ...options], {
    cwd: root,
    env: { ...process.env, ...postgres },
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
