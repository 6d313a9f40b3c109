import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { CONFIG_MAX } from '../../../core/urls/index-config.ts'
import { withoutCredentials } from '../../../core/urls/urls.ts'
import { readFolder, readText, statOf } from '../../places/disk/files.ts'
import { Web, type WebOptions } from '../../web/web.ts'
import { openLoose, openVendor } from './folders.ts'
import { openGit } from './git.ts'
import { INDEX_FILE_MAX, listTiers } from './index-file.ts'
import type { ImportRequest, OpenedSource, Source, SourceKind } from './source.ts'
import { openSparse } from './sparse.ts'
import { openCargoCache, openTree } from './tree.ts'

/** Opens a source of a kind; `index` is the folder of its index, below the source. */
type Open = (request: ImportRequest, web: Web, index: string) => Promise<OpenedSource>
const OPEN: Record<SourceKind, Open> = {
  tree: openTree,
  'local-registry': openTree,
  git: openGit,
  sparse: openSparse,
  vendor: openVendor,
  'cargo-cache': (request, _, index) => openCargoCache(request.source, index),
  crates: request => openLoose(request.source),
}

/** Detects and opens a source; refuses a source that cannot be imported or needs more options. */
export async function openSource(request: ImportRequest, web: WebOptions = {}): Promise<Source> {
  const { source, as, token, sourceUrl = [] } = request
  const { kind, index } = await detect(source, as)
  if (request.names !== undefined && kind !== 'sparse')
    refuse('import_names_useless', { kind: `\`${kind}\`` })
  const client = new Web(web, token)
  const opened = await OPEN[kind](request, client, index)
  const close = async () => {
    await opened.close?.()
    await client.close()
  }
  return { ...opened, kind, ownUrls: [...new Set([...opened.ownUrls, ...sourceUrl])], close }
}

interface Detection {
  readonly kind: SourceKind
  /** For a tree: the folder of the index below the source, `.` for the source itself. */
  readonly index: string
}

async function detect(source: string, as?: SourceKind): Promise<Detection> {
  if (/^sparse\+/i.test(source)) return at('sparse')
  const isHere = existsSync(source)
  // As in Cargo, a URL without `sparse+` is a git repository.
  if (!isHere && /^(?:(?:https?|ssh|git|file):\/\/|[\w.-]+@[\w.-]+:)/i.test(source))
    return at('git')
  const stats = await statOf(source)
  if (!stats) return refuse('file_missing', { path: withoutCredentials(source) })
  if (!stats.isDirectory())
    return source.endsWith('.crate') ? at('crates') : refuse('import_source_unknown', { source })
  const candidates = (await lookAround(source)).filter(
    ({ kind }) => as === undefined || kind === as,
  )
  const [first, ...others] = candidates
  if (first && others.length === 0) return first
  const kinds = candidates.map(
    ({ kind, index }) => `\`${kind}\`${index === '.' ? '' : ` (in ${index})`}`,
  )
  if (first) refuse('import_source_ambiguous', { source, kinds: kinds.join(' or ') })
  const what = as === undefined ? source : `${source}, as \`${as}\`,`
  return refuse('import_source_unknown', { source: what })
}

function at(kind: SourceKind, index = '.'): Detection {
  return { kind, index }
}

/** Returns every kind that a folder could be; a more specific kind hides a general one. */
async function lookAround(source: string): Promise<Detection[]> {
  const has = (file: string) => existsSync(join(source, file))
  // Its records may be on a server; a folder for `build --from` has settings, and no tree.
  if (has('plimsoll.db') || (has('plimsoll.toml') && has('public')))
    refuse('import_own_folder', { source })
  if (['HEAD', 'objects', 'refs'].every(has)) return [at('git')]
  const caches = await cargoCaches(source)
  if (caches.length > 0) return caches.map(index => at('cargo-cache', index))
  const entries = await readFolder(source)
  const detections: Detection[] = []
  const hasIndex = await isIndex(join(source, 'index'))
  const cratesOnTop = entries.some(entry => entry.isFile() && entry.name.endsWith('.crate'))
  // `cargo local-registry` writes no `config.json`.
  if (hasIndex) {
    const isLocal = cratesOnTop && !has('index/config.json')
    detections.push(at(isLocal ? 'local-registry' : 'tree', 'index'))
  }
  if (await isIndex(source)) {
    // For a work tree of a git index, HEAD counts, unless the .crate files are there, too.
    const isWorkTree = has('.git') && !(await hasCrates(source))
    detections.push(at(isWorkTree ? 'git' : 'tree'))
  }
  const folders = entries.filter(entry => entry.isDirectory()).map(entry => entry.name)
  if (folders.some(name => has(join(name, '.cargo-checksum.json')))) detections.push(at('vendor'))
  if (detections.length > 0) return detections
  for (const name of folders) {
    // One level too high: imported as loose files, the crates would lose their index.
    if (name !== 'index' && (await isIndex(join(source, name)))) detections.push(at('tree', name))
    else if (await isIndex(join(source, name, 'index')))
      detections.push(at('tree', `${name}/index`))
  }
  if (await hasCrates(source)) detections.push(at('crates'))
  if (detections.length === 1 && detections[0]?.kind === 'tree')
    refuse('import_source_inner', { source, inner: detections[0].index })
  return detections
}

/** Returns the indexes with a cache in a CARGO_HOME, its `registry` folder, or one index of it. */
async function cargoCaches(source: string): Promise<string[]> {
  if ((await listTiers(join(source, '.cache'))).length > 0) return ['.']
  const indexes: string[] = []
  for (const folder of ['registry/index', 'index']) {
    for (const { name } of await readFolder(join(source, folder))) {
      const index = `${folder}/${name}`
      if ((await listTiers(join(source, index, '.cache'))).length > 0) indexes.push(index)
    }
  }
  return indexes
}

/**
 * Returns whether a folder is the root of an index: has index files or a `config.json` with `dl`.
 */
async function isIndex(folder: string): Promise<boolean> {
  const config = await readText(join(folder, 'config.json'), CONFIG_MAX)
  if (config !== null && /"dl"\s*:/.test(config)) return true
  const [first] = (await listTiers(folder)).filter(({ size }) => size <= INDEX_FILE_MAX)
  if (!first) return false
  const text = await readText(join(folder, ...first.path.split('/')), INDEX_FILE_MAX)
  return text !== null && /^\s*\{.*"vers"\s*:/.test(text.slice(0, 1024 * 1024))
}

async function hasCrates(folder: string): Promise<boolean> {
  for (const entry of await readFolder(folder)) {
    if (entry.isFile() && entry.name.endsWith('.crate')) return true
    if (entry.isDirectory() && entry.name !== '.git' && (await hasCrates(join(folder, entry.name))))
      return true
  }
  return false
}
