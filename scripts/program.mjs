// Bundles the program into dist/program: loading a few large files takes half the time of loading
// hundreds of small ones.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { note, root } from './prepare.mjs'

const out = join(root, 'dist', 'program')
const built = path => join(root, 'dist', path)

/** Packages that are compiled, optional, or load their own files; `image.mjs` copies these. */
const EXTERNAL = ['libsql', 'nodegit', 'pg', 'pino']

/** The programs of threads, by the module that starts them as `./worker.js`. */
const THREADS = {
  [built('generator/sandbox/sandbox.js')]: 'sandbox-worker',
  [built('generator/places/disk/disk.js')]: 'disk-worker',
  [built('generator/places/disk/damage.js')]: 'damage-worker',
}

/** A module finds the files beside it where it was compiled, not where it was bundled. */
const ownPlaces = {
  name: 'own-places',
  setup(bundle) {
    bundle.onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const thread = THREADS[path]
      if (thread) return { contents: text.replace('./worker.js', `./${thread}.js`), loader: 'js' }
      const place = JSON.stringify(relative(out, path).replaceAll('\\', '/'))
      return {
        contents: text.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`),
        loader: 'js',
      }
    })
  },
}

// Chunks of earlier bundles have other names.
rmSync(out, { recursive: true, force: true })
const programs = {
  main: 'daemon/cli.js',
  'sandbox-worker': 'generator/sandbox/worker.js',
  'disk-worker': 'generator/places/disk/worker.js',
  'damage-worker': 'generator/places/disk/damage-worker.js',
}
/** Each by itself: every set of programs that share a module would have a file of its own. */
const bundle = ([name, path]) => ({
  entryPoints: { [name]: built(path) },
  outdir: out,
  bundle: true,
  splitting: true,
  chunkNames: '[name]-[hash]',
  platform: 'node',
  target: 'node20',
  // The UMD files of some packages cannot be bundled.
  mainFields: ['module', 'main'],
  format: 'esm',
  external: EXTERNAL,
  banner: {
    js: "import { createRequire as requireIn } from 'node:module'; const require = requireIn(import.meta.url);",
  },
  plugins: [ownPlaces],
  metafile: true,
  logLevel: 'warning',
})
const bundles = await Promise.all(Object.entries(programs).map(program => build(bundle(program))))

// An old Node cannot read the bundles, so the started program first says which Node it needs.
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines.node)
const text = `#!/usr/bin/env node
const { node } = process.versions
const [major, minor] = node.split('.').map(Number)
if (major > ${major} || (major === ${major} && minor >= ${minor}))
  keepCode().then(() => import('./main.js')).catch(error => {
    if (error.code !== 'EMFILE' && error.code !== 'ENFILE') throw error
    console.error('error: too many files are open: ' + error.message + '; raise the limit (\`ulimit -n\`, or \`LimitNOFILE=\` of the service), then try again')
    process.exitCode = 1
  })
else {
  console.error('error: Plimsoll needs Node ${major}.${minor} or newer, and this is ' + node + '; install a newer Node and run it again')
  process.exitCode = 2
}

/** Has Node keep the compiled code for the next start, if it can (22.8), in the user's own cache. */
async function keepCode() {
  const { env } = process
  const [home, cache] = env.XDG_CACHE_HOME
    ? [env.XDG_CACHE_HOME, env.XDG_CACHE_HOME]
    : [env.HOME, env.HOME + '/.cache']
  const { enableCompileCache } = await import('node:module')
  const { statSync } = await import('node:fs')
  // Compiled code of another user is another program: with sudo, \`HOME\` may be that user's.
  if (home && enableCompileCache && statSync(home, { throwIfNoEntry: false })?.uid === process.getuid?.())
    enableCompileCache(cache + '/plimsoll/code')
}
`
const started = join(out, 'cli.js')
writeFileSync(started, text, { mode: 0o755 })
note(
  'program',
  bundles.map(({ metafile }) => metafile),
  [relative(root, started)],
)
