// Bundles the program into dist/program: loading a few large files takes half the time of loading
// hundreds of small ones.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { root } from './prepare.mjs'

const out = join(root, 'dist', 'program')

/** A module finds the files beside it where it was compiled, not where it was bundled. */
const ownPlaces = {
  name: 'own-places',
  setup(bundle) {
    bundle.onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
      const place = JSON.stringify(relative(out, path).replaceAll('\\', '/'))
      const text = readFileSync(path, 'utf8')
      return {
        contents: text.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`),
        loader: 'js',
      }
    })
  },
}

await build({
  entryPoints: [join(root, 'dist', 'daemon', 'cli.js')],
  outdir: out,
  bundle: true,
  splitting: true,
  chunkNames: '[name]-[hash]',
  platform: 'node',
  target: 'node20',
  // The UMD files of some packages cannot be bundled.
  mainFields: ['module', 'main'],
  format: 'esm',
  // What is compiled, optional, or starts threads from files of its own.
  external: ['libsql', 'nodegit', 'pino'],
  banner: {
    js: "import { createRequire as requireIn } from 'node:module'; const require = requireIn(import.meta.url);",
  },
  plugins: [ownPlaces],
  logLevel: 'warning',
})
