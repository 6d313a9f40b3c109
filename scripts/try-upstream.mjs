// `npm run try:upstream [word]`: real Cargo builds 300 crates of crates.io itself through a registry,
// and `export` writes what `cargo vendor` does. Not part of `npm test`, which asks nobody outside of
// this computer.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { prepare, root } from './prepare.mjs'

await prepare()
const programs = ['crates-io', 'vendor']
  .filter(name => name.includes(process.argv[2] ?? ''))
  .map(name => join(root, 'dist', 'test', 'conformance', `${name}.check.js`))
const args = ['--enable-source-maps', '--test', '--test-reporter=spec', ...programs]
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
process.exit(status ?? 1)
