import { type Command, Option } from 'commander'
import { type Issue, inFile, refuse, refuseErrors } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { importAll } from '../import/import.ts'
import type { Outcome } from '../import/prepare.ts'
import { openSource } from '../import/source/open.ts'
import type { ImportRequest } from '../import/source/source.ts'
import { SOURCE_KINDS, type Source, type SourceKind } from '../import/source/source.ts'
import { plain } from '../import/source/web.ts'
import type { Registry } from '../registry.ts'
import { operatorChange } from '../store/catalog/change.ts'
import { value } from '../store/database/statement.ts'
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

interface Options extends FolderOptions {
  readonly as?: SourceKind
  readonly crates?: string
  readonly names?: string
  readonly token?: string
  readonly sourceUrl?: string[]
  readonly owner?: string
  readonly json?: boolean
  readonly verbose?: boolean
}

/** `import SOURCE`: imports an existing registry; see docs/import.md. */
export function registerImport(program: Command, io: Io): void {
  withDir(program.command('import'), io)
    .description(
      'take over an existing registry, with every field of its index; run it again after an interruption',
    )
    .argument('<source>', 'folder, git repository, sparse+https://… or .crate file')
    .addOption(
      new Option('--as <kind>', 'what the source is, where it could be several things').choices(
        SOURCE_KINDS,
      ),
    )
    .option('--crates <dir-or-url>', 'where the .crate files are, if not where the source says')
    .option('--names <file>', 'for a sparse index: the names of its crates, one a line')
    .option(
      '--token <token>',
      'token for a private source; better set PLIMSOLL_IMPORT_TOKEN, which nobody else sees',
    )
    .option(
      '--source-url <url...>',
      'further index URLs that mean the source; dependencies on them become our own',
    )
    .option(
      '--owner <login>',
      'user who becomes the owner of the crates; default: nobody, administrators manage them',
    )
    .option('--json', 'print the report as JSON')
    .option('--verbose', 'print every warning, not one of each kind')
    .action((source: string, options: Options) =>
      withRegistry(io, options, registry => runImport(io, registry, source, options)),
    )
}

async function runImport(
  io: Io,
  registry: Registry,
  source: string,
  options: Options,
): Promise<void> {
  const owner = options.owner === undefined ? null : await userId(registry, options.owner)
  const opened = await openSource(requestOf(io, source, options))
  const report = new Report(io, options)
  const progress = progressLine(io, 'importing crate')
  io.err(`importing ${opened.description}`)
  try {
    report.begin(opened, plain(source))
    const change = operatorChange(timestamp(io.now()))
    const orders = { change, source: plain(source), owner }
    for await (const outcome of importAll(registry, opened, orders, progress.at)) {
      if (outcome.outcome === 'refused') progress.done()
      report.add(outcome)
    }
  } finally {
    progress.done()
    await opened.close?.()
  }
  report.end((await showChanges(io, registry)).issues)
}

function requestOf(io: Io, source: string, options: Options): ImportRequest {
  return {
    source,
    as: options.as ?? null,
    crates: options.crates ?? null,
    names: options.names ?? null,
    token: options.token ?? io.env.PLIMSOLL_IMPORT_TOKEN ?? null,
    sourceUrls: options.sourceUrl ?? [],
  }
}

async function userId({ database }: Registry, login: string): Promise<number> {
  const text = 'SELECT id FROM users WHERE canonical = ?'
  const id = await value<number>(database, text, login.toLowerCase())
  return id ?? refuse('login_unknown', { login })
}

/** What an import reports: the sums on stdout, objections on stderr; with `--json` all of it. */
class Report {
  readonly #io: Io
  readonly #asJson: boolean
  readonly #verbose: boolean
  readonly #sums = { added: 0, present: 0, refused: 0 }
  readonly #warnings: Issue[] = []
  #lines = 0

  constructor(io: Io, { json = false, verbose = false }: Options) {
    this.#io = io
    this.#asJson = json
    this.#verbose = verbose
  }

  begin({ kind, description, ownUrls }: Source, source: string): void {
    for (const url of ownUrls)
      this.#io.err(`dependencies on ${url} become dependencies on this registry`)
    if (!this.#asJson) return
    const head = JSON.stringify({ source, kind, description, own_urls: ownUrls })
    this.#io.out(`${head.slice(0, -1)},"versions":[`)
  }

  add({ outcome, where, name, version, issues }: Outcome): void {
    this.#sums[outcome]++
    if (this.#asJson) {
      const messages = issues.map(one => one.message)
      const line = JSON.stringify({ name, version, outcome, where, messages })
      this.#io.out(`${this.#lines++ > 0 ? ',' : ''}${line}`)
    }
    const what = [name, version].filter(Boolean).join(' ')
    const refusal = what === '' ? where : `${where}: ${what}`
    if (outcome === 'refused')
      printIssues(
        this.#io,
        issues.map(one => inFile(refusal, one)),
      )
    else this.#warnings.push(...issues.map(one => inFile(what, one)))
  }

  /** The sums; ends the command with 1 when something was refused or could not be rendered. */
  end(unrendered: readonly Issue[]): void {
    printWarnings(this.#io, this.#warnings, this.#verbose)
    const { added, present, refused } = this.#sums
    if (this.#asJson) this.#io.out(`],${JSON.stringify(this.#sums).slice(1)}`)
    else
      this.#io.out(
        `imported ${added} versions; ${present} were here already, ${refused} were refused`,
      )
    refuseErrors(unrendered)
    if (refused > 0) throw new Exit(1)
  }
}
