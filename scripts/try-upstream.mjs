// `npm run try:upstream`: real Cargo builds 300 crates of crates.io itself through a registry. Not
// part of `npm test`, which asks nobody outside of this computer.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { prepare, root } from './prepare.mjs'

await prepare()
const program = join(root, 'dist', 'test', 'conformance', 'crates-io.check.js')
const args = ['--enable-source-maps', '--test', '--test-reporter=spec', program]
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
process.exit(status ?? 1)
