import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { Refusal, refusalOnly } from '../../core/error/error.ts'
import { GIT_INDEX_FOLDER } from '../../core/paths/tree.ts'
import { describeSettings } from '../../core/settings/settings.ts'
import { fetchProblem } from '../git/git-index.ts'
import { findEngine } from '../git/index-repository/repository.ts'
import { type Registry, readSettings, serveHolder } from '../registry.ts'
import { registryCounts } from '../store/catalog/crates.ts'
import { listFailures } from '../store/catalog/facts.ts'
import { type FailedMark, listFailedMarks } from '../store/catalog/marks.ts'
import { countPageMarks } from '../store/catalog/pages/page-marks.ts'
import { listPlainPages } from '../store/catalog/pages/plain-pages.ts'
import { withManual } from './console/manual.ts'
import { withRegistry } from './folder.ts'
import {
  type FolderOptions,
  flagsOf,
  formatted,
  type Io,
  report,
  run,
  withDir,
  withSettingFlags,
} from './io.ts'

/** `status` and `settings`, which print the state of the registry and change nothing. */
export function registerReports(program: Command, io: Io): void {
  const statusCommand = withDir(program.command('status'), io)
    .description('print counts, pending work and the last errors')
    .action((options: FolderOptions & { json?: boolean }) =>
      withRegistry(io, options, async registry => {
        const counts = await registryCounts(registry.database)
        const pages = await countPageMarks(registry.database)
        const daemon = serveHolder(registry.dir)
        const git = await gitIndex(registry)
        const errors = await listFailures(registry.database)
        const failed = await listFailedMarks(registry.database)
        const plain = await listPlainPages(registry.database, 100)
        const status = {
          ...counts,
          pending_pages: pages,
          daemon,
          git_index: git.isThere ? git.engine : null,
          git_index_missing: git.why,
          git_index_problem: git.problem,
          base_url: registry.urls.base,
          index: registry.urls.sparseIndex,
          last_errors: errors,
          failed_work: failed,
          plain_pages: plain,
        }
        if (options.json) io.out(JSON.stringify(status, null, 2))
        else {
          io.out(`crates    ${formatted(counts.crates)}`)
          io.out(`versions  ${formatted(counts.releases)}`)
          io.out(`users     ${formatted(counts.users)}`)
          io.out(
            `pending   ${formatted(counts.pending)}${pages > 0 ? `, ${formatted(pages)} of them pages` : ''}`,
          )
          io.out(`daemon    ${daemon ?? 'not running'}`)
          io.out(`git index ${git.isThere && git.engine ? git.engine : `none: ${git.why}`}`)
          if (git.problem !== null) io.out(`warning   ${git.problem}`)
          io.out(`index     ${registry.urls.sparseIndex}`)
          for (const one of errors) io.out(`error     ${one.at} ${one.what}: ${one.why}`)
          for (const one of failed) io.out(`failed    ${failedLine(one)}`)
          for (const { name, version, what, because } of plain)
            io.out(`plain     ${what} of ${name} ${version}, because ${because}`)
        }
      }),
    )

  withManual(statusCommand, {
    examples: [['plimsoll status', 'also works while a daemon is running']],
    json: 'an object: `crates`, `releases`, `users`, `pending` and `pending_pages`, numbers; `daemon`, `git_index`, `git_index_missing`, `git_index_problem`, texts or null; `base_url` and `index`; `last_errors`, `failed_work` and `plain_pages`, arrays of objects',
    fails: 'the registry cannot be read',
  })

  const settings = withSettingFlags(withDir(program.command('settings'), io))
    .description('print every effective setting and where it comes from')
    .action((options: FolderOptions & { json?: boolean }) =>
      run(io, async () => {
        const rows = describeSettings(
          readSettings(options.dir, { env: io.env, flags: flagsOf(options) }),
        )
        const lines = rows.map(row => `${row.key} = ${row.text || '(none)'}  # ${row.origin}`)
        report(io, options, rows, lines)
      }),
    )
  withManual(settings, {
    examples: [['plimsoll settings --set auth.required=true', 'shows what a setting would change']],
    json: 'an array with an object for each setting: `key`; `value`; `text`, the value as in plimsoll.toml; `origin`',
    fails: 'the settings cannot be read',
  })
}

function failedLine({ kind, crate, version, attempts, retryAt, error }: FailedMark): string {
  const of = [crate, version].filter(part => part !== null).join(' ')
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  return `${kind}${of && ` of ${of}`}: ${error} (${tries}, next ${retryAt})`
}

/**
 * Returns what writes the git index, why it does not exist or cannot be written, and why Cargo
 * cannot fetch it from a daemon on this machine.
 */
async function gitIndex({ tree, settings }: Registry) {
  const isThere = existsSync(tree.path(GIT_INDEX_FOLDER))
  const nothing = (why: string) => ({ isThere, engine: null, why, problem: null })
  if (settings.git.index === 'off') return nothing('the setting `git.index` is "off"')
  const found = await findEngine({ engine: settings.git.engine }).catch(refusalOnly)
  if (found instanceof Refusal) return nothing(found.message)
  const engine = found.name
  const missing = `not created yet; the daemon or \`plimsoll build\` creates it with ${engine}`
  const problem = (await fetchProblem())?.message ?? null
  return { isThere, engine, why: isThere ? null : missing, problem }
}
