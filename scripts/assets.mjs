// Bundles and minifies the scripts and styles of the pages into dist/assets, from where the program
// reads them.
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { minify } from 'terser'
import { note, root } from './prepare.mjs'

const site = join(root, 'site')
const built = join(root, 'dist', 'assets')
const out = `${built}.new`
const TARGETS = ['es2022', 'chrome123', 'firefox120', 'safari17.5']
rmSync(out, { recursive: true, force: true })
const ofPages = await build({
  entryPoints: {
    'browser/page': join(site, 'browser', 'page.ts'),
    style: join(site, 'assets', 'style.css'),
    code: join(site, 'assets', 'code.css'),
  },
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  minify: true,
  // Properties of objects that only the search makes; never a property of a JSON file. Their names
  // are a tenth of its size.
  mangleProps:
    /^(?:leniency|considered|suggested|similar|matched|updatedAt|yanked|grade|suggest|others|words|filters|terms|word|missing|description|newest|about|fits|found|postings|shapes|bucket|ranks)$/,
  target: TARGETS,
  // The hash over all of it is in the folder's name, so the names of its files need none.
  chunkNames: 'browser/[name]',
  metafile: true,
  logLevel: 'warning',
})
/** Browsers read archives of crates, so they need only the messages about those. */
const fewerMessages = {
  name: 'fewer-messages',
  setup(bundle) {
    bundle.onLoad({ filter: /messages\/\w+\.ts$/ }, ({ path }) => {
      const [, name] = /export const (\w+)/.exec(readFileSync(path, 'utf8')) ?? []
      if (name === 'crateMessages') return undefined
      return { contents: `export const ${name} = {}` }
    })
  },
}
const ofSources = await build({
  entryPoints: {
    'browser/sources/page': join(site, 'browser', 'sources', 'page.ts'),
    'browser/sources/archive': join(site, 'browser', 'sources', 'workers', 'archive.ts'),
    'browser/sources/render': join(site, 'browser', 'sources', 'workers', 'render.ts'),
    sources: join(site, 'assets', 'sources.css'),
  },
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  minify: true,
  target: TARGETS,
  chunkNames: 'browser/sources/[name]-[hash]',
  plugins: [fewerMessages],
  metafile: true,
  logLevel: 'warning',
})
// esbuild looks at each script once; terser looks again, which saves another 2 %.
const scripts = join(out, 'browser')
for (const name of readdirSync(scripts, { recursive: true }).filter(file => file.endsWith('.js'))) {
  const file = join(scripts, name)
  const options = { module: true, ecma: 2022, compress: { passes: 3 } }
  const { code = '' } = await minify(readFileSync(file, 'utf8'), options)
  writeFileSync(file, code)
}
const images = ['mark.svg', 'favicon.ico', 'preview.png']
for (const name of images) cpSync(join(site, 'assets', name), join(out, name))
// Names of parts change with their content, so remove all old ones.
rmSync(built, { recursive: true, force: true })
renameSync(out, built)
note(
  'assets',
  [ofPages.metafile, ofSources.metafile],
  [...images.map(name => join('site', 'assets', name)), join('dist', 'assets', 'style.css')],
)
