import type { Command } from 'commander'
import { type Issue, inFile, Refusal } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { addCrateFile } from '../add/add.ts'
import { orderBatch } from '../add/batch.ts'
import type { Registry } from '../registry.ts'
import { findCrates } from '../store/crate-files.ts'
import { showChanges } from './changes.ts'
import { withRegistry } from './folder.ts'
import {
  Exit,
  type FolderOptions,
  type Io,
  printIssues,
  printWarnings,
  progressLine,
  withDir,
} from './io.ts'

interface AddOptions extends FolderOptions {
  readonly json?: boolean
  readonly verbose?: boolean
}

/** `add FILE|DIR…`: adds `.crate` files, with the checks of a publish. */
export function registerAdd(program: Command, io: Io): void {
  withDir(program.command('add'), io)
    .description('add .crate files to the registry, with the checks of a publish')
    .argument('<file-or-dir...>', '.crate files, or folders to search for them')
    .option('--json', 'print a report as JSON')
    .option('--verbose', 'print every warning, not just one of each kind')
    .action((sources: string[], options: AddOptions) =>
      withRegistry(io, options, registry => addAll(io, registry, sources, options)),
    )
}

async function addAll(
  io: Io,
  registry: Registry,
  sources: readonly string[],
  { json = false, verbose = false }: AddOptions,
): Promise<void> {
  const paths = (await Promise.all(sources.map(source => findCrates(source)))).flat()
  const items = await orderBatch(registry, [...new Set(paths)])
  // Crates with versions that are not processed yet; the versions of a crate are adjacent.
  const companions = new Set(items.flatMap(({ name }) => name ?? []))
  const progress = progressLine(io, 'adding')
  const report: object[] = []
  const sums = { added: 0, present: 0, refused: 0 }
  const errors: Issue[] = []
  const warnings: Issue[] = []
  for (const [index, item] of items.entries()) {
    const { path, name: crate } = item
    progress.at(index + 1, items.length)
    try {
      const at = timestamp(io.now())
      const accepted = await addCrateFile(registry, path, { at, companions })
      const { name, version } = accepted.release
      sums[accepted.outcome]++
      warnings.push(...accepted.warnings.map(one => inFile(path, one)))
      report.push({ path, name, version, outcome: accepted.outcome })
      progress.done()
      if (!json) io.out(`${accepted.outcome} ${name} ${version}`)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      sums.refused++
      errors.push(...error.issues.map(one => inFile(path, one)))
      report.push({ path, errors: error.issues.map(one => one.message) })
    }
    if (crate !== null && items[index + 1]?.name !== crate) companions.delete(crate)
  }
  progress.done()
  // Shared files such as `config.json` may be older than the settings.
  const { issues } = await showChanges(io, registry)
  printWarnings(io, warnings, verbose)
  printIssues(io, [...errors, ...issues])
  if (json) io.out(JSON.stringify(report, null, 2))
  else if (items.length > 1) {
    const present = sums.present > 0 ? `${sums.present} already present, ` : ''
    io.out(`${sums.added} added, ${present}${sums.refused} refused`)
  }
  if (sums.refused > 0) throw new Exit(1)
}
