// `npm run check:deploy`: makes the release of this commit in dist/release, runs its archive, its
// image and its Debian package without a container engine, and checks the files of deploy/ with the
// programs that `test/deploy/tools.sh` has compiled. Not part of `npm test`: it takes minutes.
// Words choose the checks whose names have one of them.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'
import { prepare, root } from './prepare.mjs'

await prepare()
run(process.execPath, [join(root, 'scripts', 'release.mjs')], root)
const folder = join(root, 'dist', 'test', 'deploy')
const words = process.argv.slice(2)
const checks = readdirSync(folder).filter(
  name =>
    name.endsWith('.check.js') && (words.length === 0 || words.some(word => name.includes(word))),
)
const args = ['--enable-source-maps', '--test', '--test-reporter=spec']
const { status } = spawnSync(
  process.execPath,
  [...args, ...checks.map(name => join(folder, name))],
  { cwd: root, stdio: 'inherit' },
)
process.exit(status ?? 1)
