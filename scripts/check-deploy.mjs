// `npm run check:deploy`: builds and uses the Dockerfile's image without a container engine, and
// checks the files of deploy/ with the programs that `test/deploy/tools.sh` has compiled. Not part
// of `npm test`: it installs all packages once more.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { prepare, root } from './prepare.mjs'

await prepare()
const folder = join(root, 'dist', 'test', 'deploy')
const checks = readdirSync(folder).filter(name => name.endsWith('.check.js'))
const args = ['--enable-source-maps', '--test', '--test-reporter=spec']
const { status } = spawnSync(
  process.execPath,
  [...args, ...checks.map(name => join(folder, name))],
  { cwd: root, stdio: 'inherit' },
)
process.exit(status ?? 1)
