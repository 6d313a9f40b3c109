import { createReadStream, existsSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { type Acceptance, addSubmission } from '../add.ts'
import { buildCrate } from '../build.ts'
import { Refusal, refuse } from '../error.ts'
import { buildPages } from '../pages.ts'
import type { Registry } from '../registry.ts'
import { timestamp } from '../timestamp.ts'
import { withDir, withRegistry } from './folder.ts'
import { Exit, type Io, printIssues, progressLine } from './io.ts'

/** `add FILE|DIR…`: takes `.crate` files in, with the checks of a publish. */
export function registerAdd(program: Command, io: Io): void {
  withDir(program.command('add'), io)
    .description('take .crate files into the registry, with the checks of a publish')
    .argument('<file-or-dir...>', '.crate files, or folders that are searched for them')
    .option('--json', 'print a report as JSON')
    .action((sources: string[], options: { dir: string; json?: boolean }) =>
      withRegistry(io, options.dir, registry => addAll(io, registry, sources, options.json ?? false)),
    )
}

async function addAll(io: Io, registry: Registry, sources: string[], asJson: boolean): Promise<void> {
  const paths = (await Promise.all(sources.map(findCrates))).flat()
  const progress = progressLine(io, 'adding')
  const report: object[] = []
  let failures = 0
  for (const [index, path] of paths.entries()) {
    progress.at(index + 1, paths.length)
    try {
      const { release, outcome, warnings } = await addOne(io, registry, path)
      progress.done()
      printIssues(io, warnings, `${path}: `)
      report.push({ path, name: release.name, version: release.version, outcome })
      if (!asJson) io.out(`${outcome === 'added' ? 'added' : 'present'} ${release.name} ${release.version}`)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      failures++
      progress.done()
      printIssues(io, error.issues, `${path}: `)
      report.push({ path, errors: error.issues.map(one => one.message) })
    }
  }
  await buildPages(registry)
  if (asJson) io.out(JSON.stringify(report, null, 2))
  if (failures > 0) throw new Exit(1)
}

async function addOne(io: Io, registry: Registry, path: string): Promise<Acceptance> {
  const at = timestamp(io.now())
  const bytes = await registry.crates.stage(createReadStream(path), registry.settings.limits.crate_bytes)
  try {
    const change = { at, actor: 'command line', user: null, tokenId: null }
    const accepted = await addSubmission(registry, { bytes, pubtime: at }, change)
    await buildCrate(registry, accepted.crateId)
    return accepted
  } finally {
    await bytes.discard()
  }
}

/** The `.crate` files that a path names, in the order of their names with numbers counting as numbers. */
async function findCrates(source: string): Promise<string[]> {
  if (!existsSync(source)) refuse('file_missing', { path: source })
  if (!statSync(source).isDirectory()) return [source]
  const names = await readdir(source, { recursive: true })
  const found = names.filter(name => name.endsWith('.crate')).map(name => join(source, name))
  if (found.length === 0) refuse('no_crates_found', { path: source })
  return found.sort(new Intl.Collator('en', { numeric: true }).compare)
}
