import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './plimsoll.ts'

/** The folder of the release that `npm run check:deploy` makes first. */
export const RELEASE = join(root, 'dist', 'release')

/** The version that this checkout has. */
export const VERSION: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version

/** The Node of each platform. */
export const NODES: Readonly<Record<string, ReleasedNode>> = JSON.parse(
  readFileSync(join(root, 'deploy', 'release', 'nodes.json'), 'utf8'),
)

interface ReleasedNode {
  readonly package: string
  readonly version: string
  readonly date: string
  readonly integrity: string
  readonly addon: string
}

/** Unpacks the archive of a platform in a folder; returns the folder that is in it. */
export function unpackRelease(platform: string, folder: string): string {
  mkdirSync(folder, { recursive: true })
  const name = `plimsoll-${VERSION}-${platform}`
  execFileSync('tar', ['-xzf', join(RELEASE, `${name}.tar.gz`), '-C', folder])
  return join(folder, name)
}
