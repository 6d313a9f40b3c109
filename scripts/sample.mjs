// `npm run sample -- --example NAME --port N`: installs, builds and serves the sample application.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { prepare, root } from './prepare.mjs'

prepare()
const child = spawn(
  process.execPath,
  ['--enable-source-maps', join(root, 'dist', 'sample-app', 'cli.js'), ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', code => process.exit(code ?? 1))
