// `node scripts/image.mjs FOLDER`: makes of the built checkout a folder in which the program runs
// on a machine like this one, with nothing else installed: launcher, Node, bundles, the packages
// that are not bundled, documents and licenses. `npm run release` packs it for other machines, too.
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundledPackages, copiedPackages, licensesOf } from './packages.mjs'
import { root } from './prepare.mjs'

const PARTS = ['assets', 'core', 'generator', 'program', 'site']
const FILES = ['package.json', 'CHANGELOG.md', 'LICENSE-APACHE', 'LICENSE-MIT', 'dist/commit']
/** Its second line finds the folder, also through a link to this file. */
const LAUNCHER = `#!/bin/sh
here=$(dirname -- "$(readlink -f -- "$0")")
exec "$here/node" "$here/dist/program/cli.js" "$@"
`

const folder = process.argv[2]
if (folder === undefined) {
  console.error('usage: node scripts/image.mjs FOLDER')
  process.exit(2)
}
const packages = copiedPackages(root)
mkdirSync(folder, { recursive: true })
for (const path of [...FILES, ...PARTS.map(name => `dist/${name}`), ...packages])
  copy(path, /\.(?:map|d\.[cm]?ts|md)$/)
copy('deploy', /\/(?:debian|image|release)(?:\/|$)/)
copy('docs', /\.png$|\/adr(?:\/|$)/)
cpSync(process.execPath, join(folder, 'node'))
chmodSync(join(folder, 'node'), 0o755)
writeFileSync(join(folder, 'plimsoll'), LAUNCHER, { mode: 0o755 })
writeFileSync(join(folder, 'dist', 'packed'), 'folder\n')
const all = new Set([...packages, ...bundledPackages(root)])
writeFileSync(join(folder, 'LICENSES'), `${licensesOf(root, all).join('\n\n---\n\n')}\n`)

/** Copies a file, or a folder without the files in it that match. */
function copy(path, left) {
  const whole = join(root, path)
  const filter = source => source === whole || !left.test(source)
  // Otherwise a link would lead to this checkout.
  cpSync(whole, join(folder, path), { recursive: true, verbatimSymlinks: true, filter })
}
