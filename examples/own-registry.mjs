// A registry in a program of your own, without the daemon. It keeps the registry folder `registry`,
// moves every `.crate` file of another folder into it, yanks what `yanked.txt` there lists (a line
// such as "demo 1.0.0"), renders index and pages, and serves them until Ctrl-C:
//
//   node own-registry.mjs 8080 incoming
//
// It needs the package `plimsoll` (docs/build/library.md). Started again, it takes what is new.
import { createReadStream, existsSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, sep } from 'node:path'
import { Refusal } from 'plimsoll/core/error/error'
import { parseName } from 'plimsoll/core/name'
import { timestamp } from 'plimsoll/core/timestamp'
import { parseVersion } from 'plimsoll/core/version'
import { openRegistry } from 'plimsoll/open'
import { build } from 'plimsoll/pages/build'
import { buildPages } from 'plimsoll/pages/pages'
import { operatorChange } from 'plimsoll/records/change'
import { setYanked } from 'plimsoll/records/releases-changes'
import { addCrateFile } from 'plimsoll/registry/changes/add'
import { initRegistry } from 'plimsoll/registry/registry'
import { verify } from 'plimsoll/verify/verify'

const DIR = 'registry'
/** @type {Record<string, string>} */
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' }

const [port = '8080', incoming = 'incoming'] = process.argv.slice(2)
const flags = { 'registry.base_url': `http://127.0.0.1:${port}` }

try {
  await update()
} catch (error) {
  // A refusal has every objection, in sentences for people. Anything else is a failure.
  if (!(error instanceof Refusal)) throw error
  for (const { code, message } of error.issues) console.error(`${code}: ${message}`)
  process.exit(1)
}
serve(join(DIR, 'public'))

/** Makes the registry what the folder says. */
async function update() {
  const isNew = !existsSync(DIR)
  if (isNew) await initRegistry(DIR, { env: {} }, flags)
  const registry = await openRegistry(DIR, { env: {}, flags })
  try {
    if (isNew) await build(registry, { all: true })
    const names = await readdir(incoming)
    for (const name of names.filter(name => name.endsWith('.crate')).sort()) {
      const path = join(incoming, name)
      const at = timestamp(new Date())
      const { release, outcome, warnings } = await addCrateFile(registry, path, { at })
      // The index has it now. It was `present` if a run before was killed here.
      await rm(path)
      console.log(`${outcome} ${release.name} ${release.version}`)
      for (const { message } of warnings) console.log(`  ${message}`)
    }
    for (const [name, version] of await readYanked()) {
      const change = operatorChange(timestamp(new Date()))
      await setYanked(registry, parseName(name), parseVersion(version), true, change)
      console.log(`yanked ${name} ${version}`)
    }
    await build(registry)
    await buildPages(registry)
    for await (const { where, what } of verify(registry, { repair: false, served: false }))
      console.error(`${where}: ${what}`)
  } finally {
    await registry.close()
  }
}

/** @returns {Promise<[string, string][]>} */
async function readYanked() {
  const path = join(incoming, 'yanked.txt')
  if (!existsSync(path)) return []
  const lines = (await readFile(path, 'utf8')).split('\n').filter(line => line.trim() !== '')
  return lines.map(line => {
    const [name = '', version = ''] = line.trim().split(/\s+/)
    return [name, version]
  })
}

/**
 * Serves a folder of files. Any web server does the same, with caches and compression besides.
 * @param {string} folder
 */
function serve(folder) {
  const server = createServer(async (request, response) => {
    const path = await fileOf(folder, request.url ?? '/')
    if (path === null) response.writeHead(404).end()
    else {
      response.setHeader('Content-Type', TYPES[extname(path)] ?? 'application/octet-stream')
      createReadStream(path)
        .on('error', () => response.destroy())
        .pipe(response)
    }
  })
  server.listen(Number(port), '127.0.0.1', () =>
    console.log(`serving ${flags['registry.base_url']}`),
  )
}

/**
 * The file below the folder that a request asks for, or null.
 * @param {string} folder
 * @param {string} url
 */
async function fileOf(folder, url) {
  try {
    const path = decodeURI(new URL(url, 'http://localhost').pathname)
    const file = join(folder, path, path.endsWith('/') ? 'index.html' : '')
    const isBelow = file.startsWith(folder + sep)
    return isBelow && (await stat(file)).isFile() ? file : null
  } catch {
    return null
  }
}
