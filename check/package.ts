import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { CRATES_IO } from '../core/index-url.ts'
import { parseManifest } from '../core/manifest/parse.ts'

export interface Made {
  readonly name: string
  readonly version: string
  /** What Cargo would send of it (`crates-io/lib.rs`). */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly bytes: Buffer
}

/** Makes a release; `toml` follows the keys of `[package]`, and `more` the usual files. */
export async function make(
  name: string,
  version: string,
  toml = '',
  more: readonly Pick<Header, 'name'>[] = [],
): Promise<Made> {
  const manifest = `[package]
name = "${name}"
version = "${version}"
edition = "2021"
description = "A test of this registry by plimsoll check"
license = "MIT"
${toml}`
  const top = `${name}-${version}`
  const archive = pack()
  archive.entry({ name: `${top}/Cargo.toml` }, manifest)
  // Cargo wants a build script where there is `links`.
  for (const path of ['src/lib.rs', 'build.rs'])
    archive.entry({ name: `${top}/${path}` }, 'fn main() {}')
  for (const header of more) archive.entry(header, '')
  archive.finalize()
  const bytes = gzipSync(await buffer(archive))
  return { name, version, metadata: metadataOf(manifest), bytes }
}

/** Frames a publish: each of its two parts after its length. */
export function frame(metadata: string, bytes: Uint8Array, length = bytes.length): Buffer {
  const text = Buffer.from(metadata)
  const size = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
  return Buffer.concat([size(text.length), text, size(length), bytes])
}

function metadataOf(manifest: string): Record<string, unknown> {
  const { name, version: vers, dependencies, features, links, ...rest } = parseManifest(manifest)
  const { edition: _, ...about } = rest.about
  const deps = dependencies.map(({ name, req, package: real, registry, ...more }) => ({
    ...{ ...more, name: real ?? name, version_req: req },
    ...(real !== null && { explicit_name_in_toml: name }),
    ...(registry === null || registry === CRATES_IO ? { registry: CRATES_IO } : {}),
  }))
  const { rustVersion: rust_version } = rest
  return { name, vers, deps, features, links, rust_version, readme: null, ...about }
}
