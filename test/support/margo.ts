import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildCrate, type CrateParts } from './crate-builder.ts'
import { pathOf } from './index-path.ts'

/** A dependency as margo writes it; what is left out is usual. */
export interface MargoDependency {
  readonly name: string
  readonly req: string
  readonly registry?: string
  readonly package?: string
  readonly optional?: boolean
  readonly kind?: 'normal' | 'build'
  readonly features?: readonly string[]
}

export interface MargoRelease extends CrateParts {
  readonly deps?: readonly MargoDependency[]
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
 * its own absolute URL, as margo writes them.
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
      deps: (release.deps ?? []).map(dependency),
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

function dependency(one: MargoDependency): Record<string, unknown> {
  const usual = {
    features: [],
    optional: false,
    default_features: true,
    target: null,
    kind: 'normal',
  }
  return { ...usual, registry: null, package: null, ...one }
}
