import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { countPageMarks } from '../catalog/page-marks.ts'
import { GitIndex, gitIndexPath } from '../git-index.ts'
import { type Registry, readSettings, serveHolder } from '../registry.ts'
import { describeSettings } from '../settings.ts'
import { withDir, withRegistry } from './folder.ts'
import { type Io, run } from './io.ts'

/** `status` and `settings`: what there is, changing nothing. */
export function registerReports(program: Command, io: Io): void {
  withDir(program.command('status'), io)
    .description('counts and pending work')
    .option('--json', 'print as JSON')
    .action((options: { dir: string; json?: boolean }) =>
      withRegistry(io, options.dir, async registry => {
        const counts = await registry.catalog.counts()
        const pages = await countPageMarks(registry.database)
        const daemon = serveHolder(registry.dir)
        const engine = await gitEngine(registry)
        const status = {
          ...counts,
          pending_pages: pages,
          daemon,
          git_index: engine,
          base_url: registry.urls.base,
          index: registry.urls.sparseIndex,
        }
        if (options.json) io.out(JSON.stringify(status, null, 2))
        else {
          io.out(`crates    ${counts.crates}`)
          io.out(`versions  ${counts.releases}`)
          io.out(`users     ${counts.users}`)
          io.out(`pending   ${counts.pending}${pages > 0 ? ` (${pages} of them pages)` : ''}`)
          io.out(`daemon    ${daemon ?? 'not running'}`)
          io.out(`git index ${engine ?? 'none'}`)
          io.out(`index     ${registry.urls.sparseIndex}`)
        }
      }),
    )

  withDir(program.command('settings'), io)
    .description('every effective setting and where it comes from')
    .option('--json', 'print as JSON')
    .action((options: { dir: string; json?: boolean }) =>
      run(io, async () => {
        const rows = describeSettings(readSettings(options.dir, { env: io.env }))
        if (options.json) io.out(JSON.stringify(rows, null, 2))
        else for (const row of rows) io.out(`${row.key} = ${row.text || '(none)'}  # ${row.origin}`)
      }),
    )
}

/** What writes the git index: `nodegit`, `git`, or null when there is none. */
async function gitEngine(registry: Registry): Promise<string | null> {
  if (!existsSync(gitIndexPath(registry))) return null
  const git = await GitIndex.open(registry)
  await git?.close()
  return git?.engine ?? null
}
