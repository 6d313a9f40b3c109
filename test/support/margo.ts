import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Dependency } from '../../core/entry/entry.ts'
import { buildCrate, type CrateParts } from './crate-builder.ts'
import { pathOf } from './index-path.ts'
import { dependency } from './release.ts'

export interface MargoRelease extends CrateParts {
  readonly deps?: readonly (Partial<Dependency> & { readonly name: string })[]
  readonly features?: Readonly<Record<string, readonly string[]>>
  readonly yanked?: boolean
  /** Keys laid over the index line. */
  readonly line?: Readonly<Record<string, unknown>>
  /** The bytes of the `.crate`, when they are not the usual ones. */
  readonly bytes?: Uint8Array
}

/**
 * A registry in margo's layout, made by hand: `config.json` and the tiers of the index at the root,
 * the `.crate` files in `crates/PREFIX/NAME/VERSION.crate`. Dependencies on its own crates carry
 * its absolute URL, as margo writes them.
 */
export class MargoTree {
  readonly root: string
  readonly base: string

  constructor(root: string, base: string) {
    this.root = root
    this.base = base
    mkdirSync(root, { recursive: true })
    const config = {
      dl: `${base}crates/{lowerprefix}/{crate}/{version}.crate`,
      api: null,
      'auth-required': false,
    }
    writeFileSync(join(root, 'config.json'), JSON.stringify(config))
  }

  get indexUrl(): string {
    return `sparse+${this.base}`
  }

  /** Adds a version; its index line as text comes back. */
  add(release: MargoRelease): string {
    const { name, version } = release
    const bytes = release.bytes ?? buildCrate(release)
    const line = JSON.stringify({
      name,
      vers: version,
      deps: (release.deps ?? []).map(dep => dependency(dep.name, dep.req, dep)),
      cksum: createHash('sha256').update(bytes).digest('hex'),
      features: release.features ?? {},
      yanked: release.yanked ?? false,
      links: null,
      v: 2,
      rust_version: null,
      ...release.line,
    })
    this.write(this.cratePath(name, version), bytes)
    this.append(name, `${line}\n`)
    return line
  }

  cratePath(name: string, version: string): string {
    return `crates/${dirname(pathOf(name))}/${name}/${version}.crate`
  }

  /** Adds text to the index file of a crate. */
  append(name: string, text: string | Uint8Array): void {
    const path = join(this.root, pathOf(name))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'a' })
  }

  /** The lines of an index file, parsed. */
  lines(name: string): Record<string, unknown>[] {
    const text = readFileSync(join(this.root, pathOf(name)), 'utf8')
    return text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)
  }

  write(path: string, bytes: string | Uint8Array): void {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes)
  }
}
