import { type Issue, inFile, Refusal } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { asCaller } from '../places/disk/caller.ts'
import { findCrates, unreadable } from '../places/disk/crate-files.ts'
import { findCrate } from '../records/crates.ts'
import { addCrateFile, type BatchItem, orderBatch } from '../registry/changes/add.ts'

import { warnOfName } from '../upstream/names.ts'
import { openUpstreams, type Upstreams } from '../upstream/open.ts'
import { showChanges, showPending } from './console/changes.ts'
import { type RegistryTask, registryCommand } from './console/command.ts'
import { describeOutcomes, Exit, printIssues, printWarnings } from './console/io.ts'

interface FileResult {
  readonly path: string
  readonly name: string | null
  readonly version: string | null
  readonly outcome: 'added' | 'present' | 'refused' | 'skipped'
  readonly warnings: readonly Issue[]
  readonly errors: readonly Issue[]
}

export const registerAdd = registryCommand('add', {
  about: 'add .crate files to the registry, with the checks of a publish',
  takes: {
    '<file-or-dir...>': '.crate files, or folders to search for them',
    '--verbose': 'print every warning, not just one of each kind',
  },
  examples: {
    'plimsoll add target/package/demo-1.0.0.crate': 'adds one file',
    'plimsoll add --json vendor/': 'adds all files below a folder, dependencies first',
  },
  json: 'an array with an object for each file: `path`; `name` and `version`, null if the file cannot be read; `outcome`, one of `added`, `present`, `refused` and `skipped`, for what is no file; `warnings`, an array of texts; `errors`, the same, only if the file was refused',
  fails: 'some files were refused; the others were added',
  async run(task: RegistryTask, sources: readonly string[]) {
    const { io, registry, options, progress } = task
    const items = await asCaller(async () => {
      const paths = (await Promise.all(sources.map(source => findCrates(source)))).flat()
      return orderBatch(registry, [...new Set(paths)], progress)
    })
    const results: FileResult[] = []
    const sums = { added: 0, present: 0, refused: 0, skipped: 0 }
    const upstreams = await openUpstreams(registry, { env: io.env })
    try {
      for await (const result of addEach(task, items, upstreams)) {
        const { outcome, name, version } = result
        results.push(result)
        sums[outcome]++
        if (/^(?:added|present)$/.test(outcome) && !options.json)
          io.out(`${outcome} ${name} ${version}`)
      }
    } finally {
      await upstreams.close()
    }
    // Shared files such as `config.json` may be older than the settings.
    const isUndone = ({ outcome, errors }: FileResult) =>
      /^(?:refused|skipped)$/.test(outcome) && !errors.some(({ code }) => code === 'storage_behind')
    const { issues } = await (results.every(isUndone) ? showPending : showChanges)(task)
    const ofFiles = (of: (result: FileResult) => readonly Issue[]) =>
      results.flatMap(file => of(file).map(each => inFile(file.path, each)))
    const warnings = ofFiles(file => file.warnings)
    printWarnings(io, options, warnings)
    printIssues(io, [...ofFiles(file => file.errors), ...issues])
    const rows = results.map(({ warnings, errors, ...rest }) => ({
      ...rest,
      warnings: warnings.map(issue => issue.message),
      ...(errors.length > 0 && { errors: errors.map(issue => issue.message) }),
    }))
    task.report(rows, results.length > 1 ? [describeOutcomes(sums)] : [])
    if (sums.refused > 0) throw new Exit(1)
  },
})

async function* addEach(
  { io, registry, progress }: RegistryTask,
  items: readonly BatchItem[],
  upstreams: Upstreams,
): AsyncIterable<FileResult> {
  // Crates with versions that are not processed yet; the versions of a crate are adjacent.
  const companions = new Set(items.flatMap(({ name }) => name ?? []))
  for (const [index, { path, name: crate, version }] of items.entries()) {
    progress('adding .crate files', index, items.length)
    const problem = await asCaller(() => unreadable(path))
    if (problem) {
      const isBad = problem.severity === 'error'
      const nothing = { path, name: null, version: null }
      const [warnings, errors] = isBad ? [[], [problem]] : [[problem], []]
      yield { ...nothing, outcome: isBad ? 'refused' : 'skipped', warnings, errors }
      continue
    }
    try {
      const at = timestamp(io.now())
      const isNew = crate !== null && (await findCrate(registry.database, crate)) === null
      const { release, outcome, ...added } = await addCrateFile(registry, path, { at, companions })
      const { name, version } = release
      const taken = isNew ? await warnOfName(upstreams, name, at) : []
      const warnings = [...added.warnings, ...taken]
      yield { path, name, version, outcome, warnings, errors: [] }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const [outcome, warnings, errors] = ['refused', [], error.issues] as const
      yield { path, name: crate, version, outcome, warnings, errors }
    }
    if (crate !== null && items[index + 1]?.name !== crate) companions.delete(crate)
  }
}
