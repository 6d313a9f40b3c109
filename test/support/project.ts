import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A crate, described in short. */
export interface CrateText {
  readonly name: string
  readonly version?: string
  /** More lines of `[package]`. */
  readonly package?: string
  /** The tables after `[package]`. */
  readonly toml?: string
  /** More files, or other contents: path → text. `src/lib.rs` is empty unless it is here. */
  readonly files?: Readonly<Record<string, string>>
}

/** A crate's sources on disk. */
export interface Project {
  readonly folder: string
  readonly name: string
  readonly version: string
}

/** Writes the sources of a crate into `folder`. */
export function writeProject(folder: string, crate: CrateText): Project {
  const { name, version = '1.0.0' } = crate
  const manifest = `[package]
name = "${name}"
version = "${version}"
edition = "2021"
description = "The crate ${name}"
license = "MIT"
${crate.package ?? ''}

${crate.toml ?? ''}
`
  writeFiles(folder, { 'Cargo.toml': manifest, 'src/lib.rs': '', ...crate.files })
  return { folder, name, version }
}

/**
 * The `.crate` that `cargo package` and `cargo publish` leave for a project that is no workspace
 * member.
 */
export function packagedFile({ folder, name, version }: Project): string {
  return join(folder, 'target', 'package', `${name}-${version}.crate`)
}

/** A workspace of several crates in one folder, each in a folder of its name. */
export function writeWorkspace(folder: string, crates: readonly CrateText[]): Project[] {
  const members = crates.map(crate => JSON.stringify(crate.name)).join(', ')
  writeFiles(folder, { 'Cargo.toml': `[workspace]\nresolver = "2"\nmembers = [${members}]\n` })
  return crates.map(crate => writeProject(join(folder, crate.name), crate))
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
