import { refuse, refuseErrors } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import { takeAdvisories } from '../advisories/update.ts'
import { completeMirror, isMirrored } from '../deploy/complete-mirror.ts'
import { readLocks } from '../registry/changes/locks.ts'
import { findDamage } from '../registry/registry.ts'
import { openUpstreams } from '../upstream/open.ts'
import { renderUpstream } from '../upstream/tree.ts'
import { showPending } from './console/changes.ts'
import { type Task, withRegistry } from './console/command.ts'

/** `build` without `--from`: renders a registry, and completes the copy of its tree in a bucket. */
export function renderRegistry(task: Task<{ readonly all?: boolean }>): Promise<void> {
  const { io, options, progress, report } = task
  return withRegistry(task, async opened => {
    const { registry } = opened
    const reason = await findDamage(registry)
    if (reason !== null) refuse('database_damaged', { reason })
    if (options.all) await readLocks(registry, progress)
    const holes = await takeAdvisories(registry, opened.change)
    const { crates, issues } = await showPending(opened, options.all)
    if (options.all || !(await isMirrored(registry))) await completeMirror(registry, progress)
    const upstreams = await openUpstreams(registry, { env: io.env })
    const lines: string[] = []
    for (const upstream of upstreams.byName.values()) {
      const { crates, until } = await renderUpstream(upstream)
      const next = until === null ? '' : `; what is held now appears from ${until} on`
      lines.push(`rendered ${counted(crates, 'crate')} of the upstream ${upstream.name}${next}`)
    }
    await upstreams.close()
    report({ crates }, [`rendered ${counted(crates, 'crate')}`, ...lines])
    refuseErrors([...holes, ...issues])
  })
}
