import { type Issue, inFile, refuseErrors } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { withoutCredentials } from '../../core/urls/urls.ts'
import { requireUser } from '../accounts/accounts.ts'
import { importAll } from '../import/import.ts'
import { openSource } from '../import/source/open.ts'
import { type ImportRequest, SOURCE_KINDS } from '../import/source/source.ts'
import { asCaller } from '../places/disk/caller.ts'
import { warnOfName } from '../upstream/names.ts'
import { openUpstreams } from '../upstream/open.ts'
import { plain } from '../web/web-url.ts'
import { showChanges, showSoFar } from './console/changes.ts'
import { type RegistryTask, registryCommand } from './console/command.ts'
import { describeOutcomes, Exit, type Outcomes, printIssues, printWarnings } from './console/io.ts'

interface Options extends Omit<ImportRequest, 'source'> {
  readonly owner?: string
}

export const registerImport = registryCommand('import', {
  about: 'import an existing registry, with every field of its index; if interrupted, run it again',
  takes: {
    '<source>': 'folder, git repository, sparse+https://… or .crate file',
    '--as <kind>': {
      about: 'kind of the source, if it could be of several kinds',
      choices: SOURCE_KINDS,
    },
    '--crates <dir-or-url>': 'where the .crate files are, unless the source says it',
    '--names <file>': 'for a sparse index: file with the names of its crates, one per line',
    '--token <token>':
      'token for a private source; PLIMSOLL_IMPORT_TOKEN is safer, as other users cannot see it',
    '--source-url <url...>':
      'more index URLs of the source; dependencies on them become dependencies on this registry',
    '--owner <username>':
      'user who will own the crates; default: no owner, administrators manage them',
    '--verbose': 'print every warning and refusal as it comes, not one of each kind',
  },
  examples: {
    'plimsoll import old-registry': 'takes over a tree of files with an index',
    'plimsoll import --as crates packages/': 'takes over a folder of .crate files',
  },
  json: 'an object: `source`, `kind`, `description`, `own_urls`; `versions`, an array with an object for each version (`name`, `version`, `outcome`, `where`, `messages`); `added`, `present` and `refused`, numbers',
  fails: 'some versions were refused; the others were imported',
  run: runImport,
})

/** Pages are shown at the start, after this many versions, and whenever their number has doubled. */
const FIRST_SHOWN = 100

const REFUSED_SHOWN = 1000

/** Prints the totals to stdout, issues to stderr; with `--json`, stdout has everything. */
async function runImport(task: RegistryTask<Options>, source: string): Promise<void> {
  const { io, registry, change, options, progress } = task
  const { json = false, verbose = false, token = io.env.PLIMSOLL_IMPORT_TOKEN, ...rest } = options
  const owner =
    rest.owner === undefined ? null : (await requireUser(registry.database, rest.owner)).id
  progress('reading the source', 0, 0)
  const { ca_file: caFile, contact } = registry.settings.outgoing
  const request = { ...rest, source, ...(token !== undefined && { token }) }
  const opened = await asCaller(() => openSource(request, { caFile, contact, env: io.env }))
  const sums: Outcomes = { added: 0, present: 0, refused: 0, skipped: 0 }
  const warnings: Issue[] = []
  const errors: Issue[] = []
  const { kind, description } = opened
  const ownUrls = opened.ownUrls.map(withoutCredentials)
  io.err(`importing ${description}`)
  for (const url of ownUrls) io.err(`dependencies on ${url} become dependencies on this registry`)
  await showSoFar(registry)
  const head = JSON.stringify({ source: plain(source), kind, description, own_urls: ownUrls })
  if (json) io.out(`${head.slice(0, -1)},"versions":[`)
  let comma = ''
  let next = FIRST_SHOWN
  const upstreams = await openUpstreams(registry, { env: io.env })
  try {
    const warned = new Set<Name>()
    const warnOnce = async (name: Name) => {
      if (warned.has(name)) return []
      warned.add(name)
      return warnOfName(upstreams, name, change.at)
    }
    const revives = kind === 'crates' && source.endsWith('.crate')
    const job = { change, source: plain(source), owner, revives, warnOfName: warnOnce }
    for await (const result of importAll(registry, opened, job, progress)) {
      const { outcome, where, name, version, issues } = result
      sums[outcome]++
      if (sums.added === next) {
        await showSoFar(registry)
        next *= 2
      }
      if (json) {
        const messages = issues.map(issue => issue.message)
        io.out(`${comma}${JSON.stringify({ name, version, outcome, where, messages })}`)
        comma = ','
      }
      const what = [name, version].filter(Boolean).join(' ')
      const place = outcome !== 'refused' ? what : what === '' ? where : `${where}: ${what}`
      const located = issues.map(issue => inFile(place, issue))
      if (verbose) printIssues(io, located)
      else if (outcome !== 'refused') warnings.push(...located)
      else if (errors.length < REFUSED_SHOWN) errors.push(...located)
    }
  } finally {
    await opened.close?.()
    await upstreams.close()
    // Also when the rest of the source cannot be read.
    if (json) io.out(`],${JSON.stringify(sums).slice(1)}`)
    printWarnings(io, {}, warnings)
    printIssues(io, errors)
  }
  const { issues } = await showChanges(task)
  if (!verbose && sums.refused > REFUSED_SHOWN) io.err('`--verbose` lists all refused versions')
  if (!json) io.out(describeOutcomes(sums))
  refuseErrors(issues)
  if (sums.refused > 0) throw new Exit(1)
}
