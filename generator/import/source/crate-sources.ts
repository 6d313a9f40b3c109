import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Entry } from '../../../core/entry/entry.ts'
import { refuse } from '../../../core/error/error.ts'
import type { CrateFile } from '../../../core/paths/upstream.ts'
import { expandDl } from '../../../core/urls/download-url.ts'
import { CONFIG_MAX, isWebTemplate, parseDl } from '../../../core/urls/index-config.ts'
import {
  fileBytes,
  fileChecksum,
  fileStats,
  readText,
  unlessMissing,
} from '../../places/disk/files.ts'
import type { Web } from '../../web/web.ts'
import { plain } from '../../web/web-url.ts'
import { CRATE_MAX, type ImportRequest, type SourceRelease } from './source.ts'

export interface CrateSource {
  readonly description: string
  take<T>(wanted: CrateFile, use: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T>
}

/** Returns a release whose bytes are in `crates`. */
export function releaseIn(
  crates: CrateSource,
  where: string,
  wanted: CrateFile,
  entry: Entry | null,
): SourceRelease {
  const { name, version, cksum } = wanted
  return { where, identity: { name, version }, entry, cksum, take: use => crates.take(wanted, use) }
}

/** Returns the `.crate` files of `--crates`, or null. A host that is given there gets the token. */
export function namedCrates({ crates }: ImportRequest, web: Web): CrateSource | null {
  if (crates === undefined) return null
  if (isWebTemplate(crates)) {
    web.trust(crates.replace(/\{.*$/s, ''))
    return webCrates(crates.replace(/\/+$/, ''), web)
  }
  if (isFileTemplate(crates)) return fileCrates(crates.replace(/\/+$/, ''))
  if (!existsSync(crates)) refuse('file_missing', { path: crates })
  return folderCrates(resolve(crates), null)
}

/** Returns the `.crate` files at the `dl` of an index; `where` is the index's name for messages. */
export function cratesOfDl(dl: string | null, where: string, web: Web): CrateSource {
  if (dl === null) return refuse('import_no_dl', { where })
  if (isFileTemplate(dl)) return fileCrates(dl)
  if (!isWebTemplate(dl)) refuse('import_dl_foreign', { dl: plain(dl) })
  return webCrates(dl, web)
}

function webCrates(dl: string, web: Web): CrateSource {
  return {
    description: plain(dl),
    take: (wanted, use) => {
      const { name, version } = wanted
      const url = expandDl(dl, wanted)
      return web.take(url, bytes =>
        bytes ? use(bytes) : refuse('import_no_bytes', { name, version, tried: plain(url) }),
      )
    },
  }
}

/**
 * The `.crate` files at a file URL, which a stranger may have written into the index: only a file
 * with bytes is read, and nothing counts but bytes that have the checksum of their line.
 */
function fileCrates(dl: string): CrateSource {
  return {
    description: dl,
    take: async (wanted, use) => {
      const { name, version } = wanted
      const path = fileURLToPath(expandDl(dl, wanted))
      if (await hasBytes(path)) return use(fileBytes(path))
      return refuse('import_no_bytes', { name, version, tried: path })
    },
  }
}

/**
 * The `.crate` files of a folder: at the path of the source's `dl`, else by the usual names:
 * `NAME-VERSION.crate`, `NAME/VERSION.crate`, `NAME/VERSION/download`.
 */
export function folderCrates(root: string, dl: string | null) {
  let surveying: Promise<ReadonlyMap<string, string[]>> | null = null
  const survey = () => {
    surveying ??= surveyOf(root)
    return surveying
  }
  const find = async (wanted: CrateFile): Promise<string> => {
    const { name, version, cksum } = wanted
    const paths = dl === null ? [] : pathsOf(dl, wanted)
    const direct = paths.map(path => join(root, ...path.split('/')))
    if (dl !== null && isFileTemplate(dl)) direct.unshift(fileURLToPath(expandDl(dl, wanted)))
    const files: string[] = []
    for (const path of direct) if (await hasBytes(path)) files.push(path)
    const file = `${name}-${version}.crate`
    if (files.length === 0) files.push(...((await survey()).get(file.toLowerCase()) ?? []))
    const [first, ...others] = files
    if (first === undefined) {
      const tried = [...direct.slice(-1), `${file} below ${root}`].join(', ')
      return refuse('import_no_bytes', { name, version, tried })
    }
    // Several caches may have the file; the checksum decides which one to use.
    for (const path of others.length > 0 ? files : [])
      if ((await hasBytes(path)) && (await fileChecksum(path)) === cksum) return path
    return first
  }
  const crates: CrateSource = {
    description: root,
    take: async (wanted, use) => use(fileBytes(await find(wanted))),
  }
  return { ...crates, isEmpty: async () => (await survey()).size === 0 }
}

/** Returns every file that may be a `.crate`, by the `NAME-VERSION.crate` that its path means. */
async function surveyOf(root: string): Promise<Map<string, string[]>> {
  const byName = new Map<string, string[]>()
  const all = await unlessMissing(readdir(root, { recursive: true, withFileTypes: true }))
  for (const entry of all?.filter(entry => entry.isFile()) ?? []) {
    const path = join(entry.parentPath, entry.name)
    for (const key of keysOf(path)) byName.set(key, [...(byName.get(key) ?? []), path])
  }
  return byName
}

/** Whether there is a file that is worth reading: files in /proc have no size, and some no end. */
async function hasBytes(path: string): Promise<boolean> {
  const { size = 0 } = (await fileStats(path)) ?? {}
  return size > 0 && size <= CRATE_MAX
}

function keysOf(path: string): string[] {
  const [file, parent] = [basename(path), basename(dirname(path))]
  const keys = file.endsWith('.crate') ? [file, `${parent}-${file}`] : []
  if (file === 'download') keys.push(`${basename(dirname(dirname(path)))}-${parent}.crate`)
  return keys.map(key => key.toLowerCase())
}

/**
 * Returns the paths in a tree where the `.crate` of a `dl` may be: the path of the URL, or its end
 * when the tree is served below a prefix. Never a path outside the tree.
 */
function pathsOf(dl: string, wanted: CrateFile): string[] {
  const path = expandDl(dl, wanted)
    .replace(/[?#].*$/s, '')
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
  const parts = path.split('/').filter(part => part !== '')
  if (parts.some(part => part === '.' || part === '..' || /[\\\0:]/.test(part))) return []
  return parts.map((_, at) => parts.slice(at).join('/')).slice(0, 12)
}

/** Returns the `dl` of an index in a folder; null when it has no `config.json`. */
export async function readDl(index: string): Promise<string | null> {
  const path = join(index, 'config.json')
  const text = await readText(path, CONFIG_MAX)
  return text === null ? null : parseDl(text, path)
}

/** Returns whether a `dl` is a file URL of this machine. */
export function isFileTemplate(dl: string): boolean {
  if (!/^file:\/\/(?:localhost)?\/[^/]/i.test(dl)) return false
  try {
    return !fileURLToPath(dl).includes('\0')
  } catch {
    // Its escapes mean characters that no path can contain.
    return false
  }
}

/**
 * Guesses the index URLs of a tree from its `dl`: in Plimsoll's layout (`{base}/crates/…` and
 * `{base}/index/`) or margo's (`{base}crates/…`, with the index at the base).
 */
export function guessUrls(dl: string | null, indexAtRoot: boolean): string[] {
  if (dl === null || !isWebTemplate(dl)) return []
  const base = /^(.*?\/)crates\/[^/]*\{/.exec(dl)?.[1]
  if (base === undefined) return []
  return indexAtRoot ? [`sparse+${base}`] : [`sparse+${base}index/`, `${base}index.git`]
}
