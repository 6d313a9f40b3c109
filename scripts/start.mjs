// `npm start`: installs, builds, makes the registry folder if it is missing, and serves it.
import { join, resolve } from 'node:path'
import { runChild } from './child.mjs'
import { prepare, root } from './prepare.mjs'

await prepare()
const cli = join(root, 'dist', 'program', 'cli.js')
const dir = resolve(process.env.PLIMSOLL_DIR || join(root, 'registry'))
runChild([cli, 'serve', '--init', '--dir', dir, ...process.argv.slice(2)])
