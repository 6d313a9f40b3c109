// `npm run sample -- --example NAME --port N`: installs, builds and serves the sample application.
import { join } from 'node:path'
import { runChild } from './child.mjs'
import { prepare, root } from './prepare.mjs'

await prepare()
runChild([join(root, 'dist', 'sample-app', 'cli.js'), ...process.argv.slice(2)])
