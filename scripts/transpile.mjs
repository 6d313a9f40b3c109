// Strips the types of every source into dist, file by file, with esbuild: only of files that
// changed. Types are checked by `npm run check` and `npm run build`.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Checksums of the sources that `out` was made from. */
const SUMS = '.sources.json'

/**
 * Writes changed sources (paths below `root`) to `out`, and removes the output of deleted sources.
 * Returns the paths of all of these. Throws when a file cannot be parsed.
 */
export async function transpile(root, sources, out) {
  const kept = join(out, SUMS)
  const before = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : {}
  const after = Object.fromEntries(
    sources.map(path => [
      path,
      createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest('hex'),
    ]),
  )
  const changed = sources.filter(
    path => before[path] !== after[path] || !existsSync(join(out, compiled(path, '.js'))),
  )
  const gone = Object.keys(before).filter(path => !(path in after))
  if (changed.length + gone.length === 0) return []
  const { transform } = await import('esbuild')
  // If one cannot be parsed, nobody knows which others were written: all are made again then.
  rmSync(kept, { force: true })
  await Promise.all(changed.map(path => strip(transform, join(root, path), join(out, path))))
  for (const path of gone)
    for (const end of ['.js', '.js.map', '.d.ts'])
      rmSync(join(out, compiled(path, end)), { force: true })
  writeFileSync(kept, JSON.stringify(after))
  return [...changed, ...gone]
}

async function strip(transform, source, target) {
  const { code, map } = await transform(readFileSync(source, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'es2023',
    sourcefile: source,
    sourcemap: true,
    sourcesContent: false,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  })
  const file = compiled(target, '.js')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${importsCompiled(code)}//# sourceMappingURL=${basename(file)}.map\n`)
  writeFileSync(`${file}.map`, map)
}

/** Imports name the compiled files. esbuild prints each clause of this kind at the start of a line. */
function importsCompiled(code) {
  return code
    .replace(
      /^((?:import|export|\}) (?:[^"]* )?(?:from )?"\.{1,2}\/[^"\n]+)\.ts"(?=;$)/gm,
      '$1.js"',
    )
    .replace(/^(import "\.{1,2}\/[^"\n]+)\.ts"(?=;$)/gm, '$1.js"')
    .replace(/(\bimport\("\.{1,2}\/[^"\n]+)\.ts"(?=\))/g, '$1.js"')
}

function compiled(path, end) {
  return path.replace(/\.ts$/, end)
}
