// Bundles the used parts of the SDK for S3 into one file of dist, with the names and licenses of
// the packages in it: nobody has to install them, and only a registry with a bucket loads them.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { note, root } from './prepare.mjs'

const file = join(root, 'dist', 'generator', 'places', 's3', 'sdk.js')
const options = {
  // Not the file of dist: this script may have replaced it before.
  entryPoints: [join(root, 'generator', 'places', 's3', 'sdk.ts')],
  outfile: file,
  allowOverwrite: true,
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node20',
  mainFields: ['module', 'main'],
  format: 'esm',
  // Their licenses are in the header.
  legalComments: 'none',
  logLevel: 'warning',
}
const { metafile } = await build({ ...options, write: false, metafile: true })
const packages = new Map()
for (const input of Object.keys(metafile.inputs)) {
  const [, folder] = /(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input) ?? []
  if (folder !== undefined && !packages.has(folder)) packages.set(folder, aboutPackage(folder))
}
const require =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
await build({
  ...options,
  banner: { js: `/*!\n${[...packages.values()].join('\n')}\n*/\n${require}` },
})
// It takes the place of the compiled source, which is written again at times.
note('sdk', [metafile], [relative(root, file)])

/** Returns the name, version and license of a package, and the text of the license if it is short. */
function aboutPackage(folder) {
  const path = join(root, folder)
  const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  if (license === 'Apache-2.0') return `${name} ${version}: ${license}, see LICENSE-APACHE`
  const [text] = existsSync(path) ? readdirSync(path).filter(name => /^licen[cs]e/i.test(name)) : []
  if (text === undefined) throw new Error(`${name} has no license that could be shipped`)
  const terms = readFileSync(join(path, text), 'utf8').replaceAll('*/', '* /')
  return `${name} ${version}: ${license}\n${terms}`
}
