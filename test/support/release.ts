import type { Dependency, Entry } from '../../core/entry/entry.ts'
import { buildCrate, type CrateParts } from './crate-builder.ts'

/** The base URL of every test registry without a socket. */
export const BASE = 'http://crates.test'

/** A plain dependency of an index line, every field written out, with changes. */
export function dependency(
  name: string,
  req = '^1',
  different: Partial<Dependency> = {},
): Dependency {
  return {
    name,
    req,
    features: [],
    optional: false,
    default_features: true,
    target: null,
    kind: 'normal',
    registry: null,
    package: null,
    ...different,
  }
}

/** A plain entry of an index file, `demo 1.0.0`, with changes. */
export function entry(different: Partial<Entry> = {}): Entry {
  return {
    name: 'demo',
    vers: '1.0.0',
    deps: [],
    cksum: '0123456789abcdef'.repeat(4),
    features: {},
    yanked: false,
    links: null,
    rust_version: null,
    pubtime: null,
    ...different,
  }
}

/** A plain dependency as Cargo sends it with a publish, with changes. */
export function sentDependency(name: string, different: object = {}) {
  const { req, package: _, ...rest } = dependency(name)
  return { ...rest, version_req: req, ...different }
}

/** How a test describes a dependency. */
export interface Wish {
  readonly req?: string
  readonly kind?: 'normal' | 'build' | 'dev'
  /** The name it is to go by in the crate. */
  readonly rename?: string
  /** The index of the registry, as Cargo writes it; by default, the test registry's. */
  readonly index?: string
}

/**
 * A dependency on a crate of the same registry: as the packaged manifest says it, and as Cargo says
 * it when publishing.
 */
export function ownDependency(
  name: string,
  { req = '^1', kind = 'normal', rename, index = `sparse+${BASE}/index/` }: Wish = {},
) {
  const table = { normal: 'dependencies', build: 'build-dependencies', dev: 'dev-dependencies' }
  const manifest = [
    `[${table[kind]}.${rename ?? name}]`,
    `version = "${req}"`,
    `registry-index = "${index}"`,
    ...(rename ? [`package = "${name}"`] : []),
    '',
  ].join('\n')
  const alias = rename && { explicit_name_in_toml: rename }
  return { manifest, metadata: sentDependency(name, { version_req: req, kind, ...alias }) }
}

/** The metadata Cargo sends for a crate without dependencies and features. */
export function plainMetadata(name: string, vers: string): Record<string, unknown> {
  const about = { description: 'A crate for tests', license: 'MIT', license_file: null }
  const links = { documentation: null, homepage: null, repository: null }
  const labels = { keywords: [], categories: [], authors: [], badges: {} }
  const rest = { readme: null, readme_file: null, links: null, rust_version: null }
  return { name, vers, deps: [], features: {}, ...about, ...links, ...labels, ...rest }
}

/**
 * The body of a publish request for a crate of these parts, with the metadata that Cargo sends for
 * a plain one.
 */
export function publishRequest(parts: CrateParts, metadata: object = {}): Uint8Array<ArrayBuffer> {
  const sent = { ...plainMetadata(parts.name, parts.version), ...metadata }
  return encodePublish(sent, buildCrate(parts))
}

/** Publishes a good crate to a daemon, the way Cargo does. */
export function publishTo(
  url: string | undefined,
  token: string,
  parts: CrateParts,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const init = { method: 'PUT', headers: { authorization: token, ...headers } }
  return fetch(`${url}/api/v1/crates/new`, { ...init, body: publishRequest(parts) })
}

/** The body of a publish request; the inverse of `decodePublish`. */
export function encodePublish(metadata: unknown, crate: Uint8Array): Uint8Array<ArrayBuffer> {
  const json = Buffer.from(JSON.stringify(metadata))
  return new Uint8Array(Buffer.concat([u32(json.length), json, u32(crate.length), crate]))
}

/** A number in four bytes, as lengths are written in a publish request. */
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
