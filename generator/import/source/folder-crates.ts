import { createReadStream } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { fileChecksum, fileFacts, readFolder } from '../../store/durable-file.ts'
import { pathsOf } from './config.ts'
import type { CrateSource, Wanted } from './source.ts'

/**
 * The `.crate` files of a folder: at the `dl` of the source, else by the names in use:
 * `NAME-VERSION.crate`, `NAME/VERSION.crate`, `NAME/VERSION/download`.
 */
export class FolderCrates implements CrateSource {
  readonly description: string
  readonly #root: string
  readonly #dl: string | null
  #byName: Map<string, string[]> | null = null

  constructor(root: string, dl: string | null) {
    this.#root = root
    this.#dl = dl
    this.description = root
  }

  async take<T>(wanted: Wanted, use: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
    const path = await this.#find(wanted)
    return use(createReadStream(path))
  }

  /** Whether nothing here can be a `.crate`. */
  async isEmpty(): Promise<boolean> {
    this.#byName ??= await survey(this.#root)
    return this.#byName.size === 0
  }

  async #find(wanted: Wanted): Promise<string> {
    const direct =
      this.#dl === null
        ? []
        : pathsOf(this.#dl, wanted).map(path => join(this.#root, ...path.split('/')))
    const found: string[] = []
    for (const path of direct) if (await fileFacts(path)) found.push(path)
    const file = `${wanted.name}-${wanted.version}.crate`
    if (found.length === 0) found.push(...(await this.#named(file)))
    const [first, ...others] = found
    if (first === undefined) {
      const { name, version } = wanted
      refuse('import_no_bytes', {
        name,
        version,
        tried: [...direct.slice(-1), `${file} below ${this.#root}`].join(', '),
      })
    }
    // Several caches may have it; the checksum says which is meant.
    for (const path of others.length > 0 ? found : [])
      if ((await fileChecksum(path)) === wanted.cksum) return path
    return first
  }

  async #named(file: string): Promise<readonly string[]> {
    this.#byName ??= await survey(this.#root)
    return this.#byName.get(file.toLowerCase()) ?? []
  }
}

/** Every file below a folder that may be a `.crate`, by the `NAME-VERSION.crate` of its path. */
async function survey(root: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readFolder(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) await visit(path)
      else if (entry.isFile())
        for (const key of keysOf(path)) found.set(key, [...(found.get(key) ?? []), path])
    }
  }
  await visit(root)
  return found
}

function keysOf(path: string): string[] {
  const [file, parent, grandparent] = [
    basename(path),
    basename(dirname(path)),
    basename(dirname(dirname(path))),
  ]
  const keys = file.endsWith('.crate') ? [file, `${parent}-${file}`] : []
  if (file === 'download') keys.push(`${grandparent}-${parent}.crate`)
  return keys.map(key => key.toLowerCase())
}
