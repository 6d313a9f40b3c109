// `npm start`: installs, builds, makes the registry folder if it is missing, and serves it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runChild } from './child.mjs'
import { prepare, root } from './prepare.mjs'

prepare()
const cli = join(root, 'dist', 'program', 'cli.js')
const dir = resolve(process.env.PLIMSOLL_DIR ?? join(root, 'registry'))
if (!existsSync(join(dir, 'plimsoll.toml'))) {
  const made = spawnSync(process.execPath, [cli, 'init', '--dir', dir], { encoding: 'utf8' })
  if (made.status !== 0) {
    console.error(made.stderr.trimEnd())
    process.exit(made.status ?? 1)
  }
  // Not what `init` says: how to start it.
  console.error(`created a registry in ${dir}`)
}
runChild([cli, 'serve', '--dir', dir, ...process.argv.slice(2)])
