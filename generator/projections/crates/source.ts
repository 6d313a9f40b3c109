import { posix } from 'node:path'
import type { Name } from '../../../core/name.ts'
import {
  changesPath,
  comparePath,
  crateKey,
  cratePath,
  releaseOfFolder,
  sourcePath,
} from '../../../core/paths/crates.ts'
import type { Output } from '../../../core/paths/tree.ts'
import { changesPage } from '../../../site/crate/changes.ts'
import type { VersionData } from '../../../site/crate-data.ts'
import { sourcePage } from '../../../site/source/page.ts'
import type { PublicTree } from '../../places/public-tree.ts'
import { listFiles } from '../../sandbox/sandbox.ts'
import { type PageContext, remembered } from '../context.ts'

/** Renders the pages about the files of a version; none if this site shows no sources. */
export async function sourcePages(context: PageContext, version: VersionData): Promise<Output[]> {
  const { site, crates } = context
  if (!site.source) return []
  const { name, cksum } = version
  const open = () => crates.localFile(crateKey(name as Name, cksum))
  const files = await remembered(context, ['files', cksum], () => listFiles(cksum, open))
  const { previous } = version
  const changes = previous ? [changesPage(site, version, previous)] : []
  return [sourcePage(site, version, files), ...changes]
}

/**
 * Removes pages about files that are not rendered any more beside the `outputs` of a crate or a
 * version: after a setting was switched off, and for a version that is now the first.
 */
export async function pruneSources(tree: PublicTree, outputs: readonly Output[]): Promise<void> {
  const wanted = new Set(outputs.map(output => output.path))
  for (const path of wanted) {
    const folder = posix.dirname(path)
    const release = path.endsWith('/index.html') ? releaseOfFolder(folder) : null
    const name = posix.basename(folder)
    const beside = release
      ? [sourcePath(release.name, release.version), changesPath(release.name, release.version)]
      : path === cratePath(name)
        ? [comparePath(name)]
        : []
    for (const old of beside) if (!wanted.has(old) && (await tree.has(old))) await tree.remove(old)
  }
}
