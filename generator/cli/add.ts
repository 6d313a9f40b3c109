import type { Command } from 'commander'
import { Refusal } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { timestamp } from '../../core/timestamp.ts'
import { type BatchItem, orderBatch } from '../add/batch.ts'
import { addCrateFile } from '../add/file.ts'
import { build } from '../build/build.ts'
import { buildPages } from '../pages/pages.ts'
import type { Registry } from '../registry.ts'
import { findCrates } from '../store/crate-files.ts'
import { withRegistry } from './folder.ts'
import { commitToGit } from './git.ts'
import { Exit, type Io, printIssues, progressLine, withDir } from './io.ts'

/** `add FILE|DIR…`: takes `.crate` files in, with the checks of a publish. */
export function registerAdd(program: Command, io: Io): void {
  withDir(program.command('add'), io)
    .description('take .crate files into the registry, with the checks of a publish')
    .argument('<file-or-dir...>', '.crate files, or folders that are searched for them')
    .option('--json', 'print a report as JSON')
    .action((sources: string[], options: { dir: string; json?: boolean }) =>
      withRegistry(io, options.dir, registry =>
        addAll(io, registry, sources, options.json ?? false),
      ),
    )
}

async function addAll(
  io: Io,
  registry: Registry,
  sources: string[],
  asJson: boolean,
): Promise<void> {
  const paths = (await Promise.all(sources.map(source => findCrates(source)))).flat()
  const items = await orderBatch(registry, [...new Set(paths)])
  const companions = new Companions(items)
  const progress = progressLine(io, 'adding')
  const report: object[] = []
  let failures = 0
  for (const [index, item] of items.entries()) {
    const { path } = item
    progress.at(index + 1, items.length)
    try {
      const { release, outcome, warnings } = await addCrateFile(registry, path, {
        at: timestamp(io.now()),
        companions: companions.names,
      })
      progress.done()
      printIssues(io, warnings, `${path}: `)
      report.push({ path, name: release.name, version: release.version, outcome })
      if (!asJson)
        io.out(`${outcome === 'added' ? 'added' : 'present'} ${release.name} ${release.version}`)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      failures++
      progress.done()
      printIssues(io, error.issues, `${path}: `)
      report.push({ path, errors: error.issues.map(one => one.message) })
    }
    companions.settle(item)
  }
  // What every crate shares, `config.json` say, may be older than the settings are now.
  printIssues(io, (await build(registry)).issues)
  await buildPages(registry)
  await commitToGit(io, registry)
  if (asJson) io.out(JSON.stringify(report, null, 2))
  if (failures > 0) throw new Exit(1)
}

/** The crates of a batch of which something is still to come. */
class Companions {
  readonly names = new Set<Name>()
  readonly #left = new Map<Name, number>()

  constructor(items: readonly BatchItem[]) {
    for (const { name } of items) {
      if (name === null) continue
      this.names.add(name)
      this.#left.set(name, (this.#left.get(name) ?? 0) + 1)
    }
  }

  /** An item is through, added or refused. */
  settle({ name }: BatchItem): void {
    if (name === null) return
    const left = (this.#left.get(name) ?? 0) - 1
    this.#left.set(name, left)
    if (left === 0) this.names.delete(name)
  }
}
