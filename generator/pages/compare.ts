import { createHash } from 'node:crypto'
import { comparePath, sourcePath } from '../../core/paths/crates.ts'
import { compareVersions } from '../../core/version.ts'
import type { Comparison } from '../../site/compare/page.ts'
import { assetPath } from '../../site/layout/assets.ts'
import { comparedVersion } from '../render/crate.ts'
import { renderComparison } from '../sandbox/rendering.ts'
import { sandbox } from '../sandbox/sandbox.ts'
import type { CrateRecord } from '../store/catalog/crates.ts'
import { listVersions, type ReleaseRecord } from '../store/catalog/releases.ts'
import { PAGE_FORMAT, type PageContext } from './context.ts'
import { packageOf, packagesOf } from './source.ts'

/** The page that compares two releases of a crate. */
export interface ReleaseComparison {
  /** Equal tags belong to equal pages. */
  readonly tag: string
  /** Renders the page, which takes up to seconds; null if a `.crate` is lost. */
  render(): Promise<string | null>
}

/** Prepares the comparison of any two releases of a crate. */
export async function compareReleases(
  context: PageContext,
  { id, name }: CrateRecord,
  before: ReleaseRecord,
  after: ReleaseRecord,
): Promise<ReleaseComparison> {
  const { database, site, tree } = context
  const versions = (await listVersions(database, id))
    .map(one => one.version)
    .sort((a, b) => compareVersions(b, a))
  const side = async (one: ReleaseRecord) => ({
    version: comparedVersion(one),
    hasPages: await tree.has(sourcePath(name, one.version)),
  })
  const sides = { before: await side(before), after: await side(after) }
  const path = comparePath(name, before.version, after.version)
  const comparison: Comparison = { site, path, name, ...sides, versions }
  const facts = [PAGE_FORMAT, assetPath('style.css'), comparison, before.cksum, after.cksum]
  return {
    tag: createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32),
    async render() {
      const packages = await packagesOf(context, name, before, after)
      return packages && (await renderComparison({ comparison, ...packages })).html
    },
  }
}

/** Reads a file of a release by the path of its bytes; null if it is not there or too large. */
export async function readRawFile(
  context: PageContext,
  { name }: Pick<CrateRecord, 'name'>,
  release: ReleaseRecord,
  path: string,
): Promise<Uint8Array | null> {
  const files = await packageOf(context, name, release)
  return files && sandbox.run('raw', { package: files, name, version: release.version, path })
}
