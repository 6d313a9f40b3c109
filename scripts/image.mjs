// `node scripts/image.mjs FOLDER`: copies only the built program's files at run time into FOLDER:
// the bundles, the files that `build --from` hashes, and the packages that are not bundled with
// their dependencies on this system.
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

/** The packages that `program.mjs` leaves out of the bundles, or whose files a bundle looks for. */
const PACKAGES = ['highlight.js', 'libsql', 'pg', 'pino']
const PARTS = ['assets', 'core', 'generator', 'program', 'site']
const TEXTS = ['package.json', 'LICENSE-APACHE', 'LICENSE-MIT', 'dist/commit']
const FILES = [...TEXTS, ...PARTS.map(dir => `dist/${dir}`)]

const folder = process.argv[2]
if (folder === undefined) {
  console.error('usage: node scripts/image.mjs FOLDER')
  process.exit(2)
}
const packages = new Set(PACKAGES)
for (const name of packages) {
  const { dependencies, optionalDependencies } = manifest(name)
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies }))
    if (existsSync(join(root, 'node_modules', needed)) && suits(needed)) packages.add(needed)
}
const paths = [...FILES, ...[...packages].map(name => `node_modules/${name}`)]
for (const path of paths)
  cpSync(join(root, path), join(folder, path), {
    recursive: true,
    filter: source => !/\.(map|d\.[cm]?ts|md)$/.test(source),
  })

function manifest(name) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))
}

/** npm installs binaries for both C libraries of Linux; a process has one of them. */
function suits(name) {
  const { glibcVersionRuntime } = process.report.getReport().header
  return !name.endsWith(glibcVersionRuntime ? '-musl' : '-gnu')
}
