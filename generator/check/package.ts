import { gzipSync } from 'node:zlib'
import { parseManifest } from '../../core/manifest/parse.ts'
import { CRATES_IO } from '../../core/urls/urls.ts'

/** A release that the check makes. */
export interface Made {
  readonly name: string
  readonly version: string
  /** What Cargo would send of it (`crates-io/lib.rs`). */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly bytes: Buffer
}

/** A member of an archive; a regular file, unless it has another type. */
export interface Member {
  readonly path: string
  readonly data?: string
  readonly type?: '0' | '1' | '2'
}

/** Makes a release; `toml` follows the keys of `[package]`, and `more` the usual files. */
export function make(name: string, version: string, toml = '', more: readonly Member[] = []): Made {
  const manifest = `[package]
name = "${name}"
version = "${version}"
edition = "2021"
description = "A test of this registry by plimsoll check"
license = "MIT"
${toml}`
  const top = `${name}-${version}`
  const files = [
    { path: `${top}/Cargo.toml`, data: manifest },
    { path: `${top}/src/lib.rs`, data: '' },
  ]
  const bytes = gzipSync(tar([...files, ...more]))
  return { name, version, metadata: metadataOf(manifest), bytes }
}

/** Frames a publish: two lengths, each before what it counts. */
export function frame(metadata: string, bytes: Uint8Array, length = bytes.length): Buffer {
  const text = Buffer.from(metadata)
  const size = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
  return Buffer.concat([size(text.length), text, size(length), bytes])
}

function metadataOf(manifest: string): Record<string, unknown> {
  const { name, version, dependencies, features, links, rustVersion, about } =
    parseManifest(manifest)
  const deps = dependencies.map(({ name, req, package: real, registry, ...rest }) => ({
    ...{ ...rest, name: real ?? name, version_req: req },
    ...(real !== null && { explicit_name_in_toml: name }),
    ...(registry === null || registry === CRATES_IO ? { registry: CRATES_IO } : {}),
  }))
  const { description, license, keywords, categories, authors, homepage } = about
  return {
    ...{
      name,
      vers: version,
      deps,
      features,
      authors,
      description,
      homepage,
      keywords,
      categories,
    },
    ...{ license, links, rust_version: rustVersion, documentation: null, repository: null },
    ...{ readme: null, readme_file: null, license_file: null, badges: {} },
  }
}

function tar(members: readonly Member[]): Buffer {
  return Buffer.concat([...members.flatMap(blocks), Buffer.alloc(1024)])
}

function blocks({ path, data = '', type = '0' }: Member): Buffer[] {
  const bytes = Buffer.from(data)
  const header = Buffer.alloc(512)
  header.write(path, 0, 100)
  header.write('0000644\x000000000\x000000000\0', 100)
  header.write(`${bytes.length.toString(8).padStart(11, '0')}\x0007346545000\0        ${type}`, 124)
  header.write(type === '0' ? '' : '/etc/hostname', 157)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]
}
