import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { buildCrate, type CrateParts } from './crate-builder.ts'

/** Writes a `.crate` of these parts, or with these bytes, and the folders above it; its path. */
export function writeCrate(path: string, parts: CrateParts | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, parts instanceof Uint8Array ? parts : buildCrate(parts))
  return path
}
