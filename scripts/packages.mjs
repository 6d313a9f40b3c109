// The packages in the built program of a checkout, each as its path, such as `node_modules/pg`.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The packages that `program.mjs` leaves out of the bundles, or whose files a bundle looks for. */
const NEEDED = ['highlight.js', 'libsql', 'pg', 'pino']

/** Returns the packages that have to be copied, with their dependencies on this system. */
export function copiedPackages(root) {
  const paths = new Set(NEEDED.map(name => join('node_modules', name)))
  for (const path of paths) {
    const { dependencies, optionalDependencies } = manifestOf(root, path)
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const needed = join('node_modules', name)
      if (existsSync(join(root, needed)) && suits(name)) paths.add(needed)
    }
  }
  return [...paths]
}

/** Returns the packages that are in the bundles, as `prepare.mjs` noted them. */
export function bundledPackages(root) {
  const paths = ['assets', 'program', 'sdk'].flatMap(name =>
    Object.keys(JSON.parse(readFileSync(join(root, 'dist', `.${name}.json`), 'utf8'))),
  )
  return [...new Set(paths.filter(path => path.startsWith('node_modules')).map(dirname))]
}

/** Returns the name, version and license of each package, with the texts that it has of that. */
export function licensesOf(root, paths) {
  return [...paths].sort().map(path => {
    const { name, version, license } = manifestOf(root, path)
    const texts = readdirSync(join(root, path))
      .filter(file => /^(?:licen[cs]e|copying|notice)/i.test(file))
      .sort()
      .map(file => readFileSync(join(root, path, file), 'utf8').trim())
    return [`${name} ${version}: ${license}`, ...texts].join('\n\n')
  })
}

/** Returns what an SBOM calls a package: `pg@8.23.1`. */
export function referenceOf(root, path) {
  const { name, version } = manifestOf(root, path)
  return `${name}@${version}`
}

function manifestOf(root, path) {
  return JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
}

/** npm installs binaries for both C libraries of Linux; a process has one of them. */
function suits(name) {
  const { glibcVersionRuntime } = process.report.getReport().header
  return !name.endsWith(glibcVersionRuntime ? '-musl' : '-gnu')
}
