import { refuseErrors } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import { completeMirror, isMirrored } from '../deploy/complete-mirror.ts'
import type { Registry } from '../registry/registry.ts'
import { openUpstreams } from '../upstream/open.ts'
import { renderUpstream } from '../upstream/tree.ts'
import { showChanges } from './console/changes.ts'
import { withRegistry } from './console/folder.ts'
import { type FolderOptions, type Io, report } from './console/io.ts'
import { progressLine } from './console/progress.ts'

/** `build` without `--from`: renders a registry, and completes the copy of its tree in a bucket. */
export function renderRegistry(
  io: Io,
  options: FolderOptions & { readonly all?: boolean; readonly json?: boolean },
): Promise<void> {
  return withRegistry(io, options, async registry => {
    const { crates, issues } = await showChanges(io, registry, options.all)
    if (options.all || !(await isMirrored(registry))) {
      const progress = progressLine(io)
      await completeMirror(registry, progress.at)
      progress.done()
    }
    const lines = await renderUpstreams(io, registry)
    report(io, options, { crates }, [`rendered ${counted(crates, 'crate')}`, ...lines])
    refuseErrors(issues)
  })
}

/** Renders the trees of upstreams, and returns a line for each. */
async function renderUpstreams(io: Io, registry: Registry): Promise<string[]> {
  const upstreams = await openUpstreams(registry, { env: io.env })
  const lines: string[] = []
  for (const upstream of upstreams.byName.values()) {
    const { crates, until } = await renderUpstream(upstream)
    const next = until === null ? '' : `; what is held now appears from ${until} on`
    lines.push(`rendered ${counted(crates, 'crate')} of the upstream ${upstream.name}${next}`)
  }
  await upstreams.close()
  return lines
}
