import { createHash } from 'node:crypto'
import type { Dependency } from '../../core/entry/entry.ts'
import type { Project } from '../support/project.ts'
import type { Stage } from './stage.ts'

/** The parts of an index line in which a test's releases differ. */
export interface LineParts {
  readonly deps?: readonly Dependency[]
  readonly features?: Readonly<Record<string, readonly string[]>>
  readonly yanked?: boolean
  readonly links?: string
  readonly features2?: Readonly<Record<string, readonly string[]>>
  readonly v?: 2
  readonly rust_version?: string
}

/** The line a release must have, byte for byte; the moment of publishing is written as `NOW`. */
export async function indexLine(
  stage: Stage,
  release: Project,
  parts: LineParts = {},
): Promise<string> {
  const { name, version } = release
  const cksum = createHash('sha256')
    .update(await stage.download(name, version))
    .digest('hex')
  const { deps = [], features = {}, yanked = false, ...more } = parts
  const stamp = stage.registry.stampsReleases ? { pubtime: 'NOW' } : {}
  return `${JSON.stringify({ name, vers: version, deps, cksum, features, yanked, ...more, ...stamp })}\n`
}

/** An index file with each moment of publishing written as `NOW`; other text stays. */
export function withoutTimes(file: string): string {
  return file.replaceAll(
    /"pubtime":"20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\dZ"/g,
    '"pubtime":"NOW"',
  )
}
