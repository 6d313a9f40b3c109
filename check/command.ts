import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { Refusal, refuse } from '../core/error/error.ts'
import { isName } from '../core/name.ts'
import { command, type Task } from '../generator/cli/console/command.ts'
import { Exit, filled, printIssues, readToken } from '../generator/cli/console/io.ts'
import { plain } from '../generator/web/web-url.ts'
import { check, isBroken, type Result } from './check.ts'
import { badge, junit, tableLines } from './report.ts'
import { topics } from './rows/all.ts'

interface CheckOptions {
  readonly crate?: readonly string[]
  readonly write?: boolean
  readonly tokenStdin?: boolean
  readonly prefix: string
  readonly yes?: boolean
  readonly cargo?: readonly string[]
  readonly junit?: string
  readonly badge?: string
}

/** Names have 64 characters, of which a run and its crates need some. */
const PREFIX_MAX = 40
/** Cargo looks once a second for the crate that it has published. */
const PAUSE_MS = 1000

export const registerCheck = command('check', {
  about: 'ask any Cargo registry, this one or another, whether it does what Cargo needs',
  takes: {
    '<registry...>':
      'sparse+https://HOST/PATH/, the URL or folder of a git index, or the folder of a static tree',
    '--crate <name>': {
      about:
        'look at this crate, and at the bytes of its versions: the last 500, up to 256 MiB; can be repeated',
      parse: crates,
    },
    '--write': 'publish small crates, and yank them at the end',
    '--token-stdin': 'read a token from standard input: one line',
    '--prefix <text>': {
      about: 'what the names of published crates begin with',
      parse: prefix,
      default: 'plimsoll-check-',
    },
    '--yes': 'publish without asking',
    '--cargo <path>': { about: 'have this Cargo try, too; can be repeated', parse: cargos },
    '--junit <file>': 'write the results as JUnit',
    '--badge <file>': 'write an image with the number of statements that hold',
  },
  examples: {
    'plimsoll check sparse+https://crates.example.com/index/': 'only reads',
    'plimsoll check public --junit check.xml': 'reads a static tree, for CI',
    'plimsoll check sparse+https://crates.example.com/index/ --write --token-stdin --yes --cargo cargo < token.txt':
      'publishes, yanks, and has Cargo try',
  },
  json: 'an array with an object for each statement and registry: `id`; `sentence`; `source`; `weight`: breaks builds, breaks publishing, differs, could be better; `status`: pass, fail, untried; `seen`, why; `target`; `cargo`, the version that tried',
  fails: 'a statement fails that breaks builds or publishing, or none holds',
  async run(task: Task<CheckOptions>, targets: readonly string[]) {
    const { io, options, progress } = task
    const token = options.tokenStdin ? await readToken(io) : null
    if (options.write) await confirm(task, targets, token)
    const end = new AbortController()
    void io.stopped(() => undefined).then(signal => end.abort(signal))
    const results: Result[] = []
    let isBad = false
    const lines: string[] = []
    for (const target of targets) {
      const outcome = await check({
        target,
        token,
        prefix: options.write ? options.prefix : null,
        crates: options.crate ?? [],
        cargos: options.cargo ?? [],
        statements,
        env: io.env,
        pauseMs: PAUSE_MS,
        signal: end.signal,
        onLooked: (looked, all) => io.err(`looked at the bytes of ${looked} of ${all} versions`),
        onResult: (done, all) => progress(`checking ${target}`, done, all),
        onLeft: (release, isYanked) =>
          io.err(`${isYanked ? 'left behind, yanked' : 'warning: left behind'}: ${release}`),
      }).catch(error => {
        // This does not stop the other checks.
        if (!(error instanceof Refusal) || targets.length === 1) throw error
        printIssues(io, error.issues)
        return []
      })
      results.push(...outcome)
      isBad ||= isBroken(outcome)
      lines.push(...(targets.length > 1 ? [plain(target)] : []), ...tableLines(outcome))
    }
    task.report(results, lines)
    for (const [path, text] of [
      [options.junit, junit(results)],
      [options.badge, badge(results)],
    ] as const) {
      if (path === undefined) continue
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
    }
    if (isBad || end.signal.aborted) throw new Exit(1)
  },
})

const statements = Object.values(topics).flat()

async function confirm(
  { io, options }: Task<CheckOptions>,
  targets: readonly string[],
  token: string | null,
): Promise<void> {
  const { yes, prefix } = options
  if (token === null) refuse('check_token')
  const what = 'about 20 small crates whose names begin with'
  io.err(
    `${what} ${prefix} will be published to ${targets.map(plain).join(', ')}; they stay there, yanked`,
  )
  if (yes) return
  const answer = io.askSecret === null ? '' : await io.askSecret('Publish them? yes or no: ')
  if (!/^y(?:es)?$/i.test(answer.trim())) refuse('check_unsure')
}

function prefix(text: string): string {
  if (isName(text) && text.length <= PREFIX_MAX) return text
  throw new InvalidArgumentError('it is no beginning of the name of a crate, or too long')
}

function cargos(text: string, before: readonly string[] = []): string[] {
  return [...before, filled(text)]
}

function crates(text: string, before: readonly string[] = []): string[] {
  if (/^[\w-]+$/.test(text)) return [...before, text]
  throw new InvalidArgumentError('it is no name of a crate')
}
