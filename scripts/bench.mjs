// `npm run bench [NAME…]`: runs the measurements of bench/, each a program of its own.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { prepare, root } from './prepare.mjs'

prepare()
const names = process.argv.slice(2)
const programs = readdirSync(join(root, 'dist', 'bench')).filter(
  file =>
    file.endsWith('.bench.js') && (names.length === 0 || names.some(name => file.startsWith(name))),
)
for (const program of programs.sort()) {
  console.log(`\n== ${program.replace('.bench.js', '')}`)
  const result = spawnSync(
    process.execPath,
    ['--enable-source-maps', join(root, 'dist', 'bench', program)],
    {
      cwd: root,
      stdio: 'inherit',
    },
  )
  if (result.status !== 0) process.exit(result.status ?? 1)
}
