import { join, resolve } from 'node:path'
import { isAtLeast, labelOf, wordOf } from '../../core/advisory/advisory.ts'
import { SEVERITIES } from '../../core/advisory/cvss.ts'
import { type AdvisoryIndex, parseAdvisoryIndex } from '../../core/advisory/index-file.ts'
import { CHECKED_LOCK_MAX, type Finding, findCovered } from '../../core/advisory/lock.ts'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import { advisoriesPath } from '../../core/paths/tree.ts'
import { counted } from '../../core/quantity.ts'
import { readUpdate, UPDATED } from '../advisories/update.ts'
import { readText, statOf } from '../places/disk/files.ts'
import { keepAdvisories } from '../records/advisories/change.ts'
import { listAdvisories } from '../records/advisories/read.ts'
import { writeValue } from '../records/values.ts'
import { isRegistry } from '../registry/folder.ts'
import { openUpstreams } from '../upstream/open.ts'
import { newlyDenied } from '../upstream/tree.ts'
import { Web } from '../web/web.ts'
import { plain } from '../web/web-url.ts'
import { showChanges } from './console/changes.ts'
import {
  command,
  commandGroup,
  type RegistryTask,
  registryCommand,
  reportChecked,
  type Task,
  withRegistry,
} from './console/command.ts'
import { Exit, readToken } from './console/io.ts'

/** The longest list of advisories that is read, in bytes. */
const INDEX_MAX = 64 * 1024 * 1024

const registerUpdate = registryCommand('update', {
  about:
    'take a new state of known holes instead of what `advisories.from` gave, and read advisories/',
  takes: {
    '[file-or-dir]':
      "RustSec's database or files of OSV: a folder, a .tar.gz or a file; without it, what `advisories.from` names",
    '--yes': 'take it although it denies versions of an upstream that are kept here',
  },
  examples: {
    'plimsoll advisories update advisory-db': 'takes a checkout of RustSec',
    'plimsoll advisories update': 'reads `advisories.from` and advisories/ again',
  },
  json: 'an object: `changed`, how many advisories are new, different or gone; `warnings`, none, and `refused`, why files were left out: arrays of texts',
  fails:
    'nothing was taken, because it denies versions that are kept here and --yes is missing; or a file was left out, or a page could not be rendered, and the rest was taken',
  async run(task: RegistryTask<{ readonly yes?: boolean }>, from?: string) {
    const { registry, change } = task
    const sources = from === undefined ? registry.settings.advisories.from : [resolve(from)]
    const { changes, issues } = await readUpdate(registry, registry.dir, sources)
    const upstreams = await openUpstreams(registry, { env: task.io.env })
    const denied: string[] = []
    for (const each of upstreams.byName.values()) denied.push(...(await newlyDenied(each, changes)))
    await upstreams.close()
    for (const text of denied) task.io.err(`would deny ${text}`)
    if (denied.length > 0 && !task.options.yes) refuse('advisories_unconfirmed')
    await keepAdvisories(registry, changes, registry.urls.own, change)
    await writeValue(registry.database, UPDATED, from === undefined ? null : change.at)
    refuseErrors((await showChanges(task)).issues)
    const line = `${counted(changes.length, 'advisory', 'advisories')} changed`
    reportChecked(task, { warnings: [], refused: issues }, { changed: changes.length }, [line])
  },
})

interface CheckOptions {
  readonly deny: (typeof SEVERITIES)[number]
  readonly tokenStdin?: boolean
}

const registerCheck = command('check', {
  about: 'name each package of a Cargo.lock that an advisory covers, own crates and others',
  takes: {
    '<lock>': 'the Cargo.lock',
    '--from <dir-or-url>':
      'a registry folder, a static tree or the address of a registry; default: the registry folder',
    '--token-stdin': 'read a token for a private registry from standard input: one line',
    '--deny <severity>': {
      about: 'exit with 1 from this severity on; without a CVSS, an advisory counts as high',
      choices: SEVERITIES.slice(1),
      default: 'low',
    },
  },
  examples: {
    'plimsoll advisories check Cargo.lock': 'asks the registry folder',
    'plimsoll advisories check Cargo.lock --from https://crates.example.com --deny high':
      'asks a registry, in CI',
  },
  json: 'an object: `packages`, how many the lock has; `denied`, a number; `advisories`, an array with `id`, `title`, `severity` (null without a CVSS), `informational` (null for a vulnerability), `aliases`, `fixed` (the versions from which on it is mended), `package`, `version`, `source` and `path`, from a member of the workspace on',
  fails: 'an advisory of this severity covers a package, or something cannot be read',
  async run(task: Task<CheckOptions>, path: string) {
    const { options, report } = task
    if (!(await statOf(path))?.isFile())
      refuse('lock_file_invalid', { file: path, reason: 'it is no regular file' })
    const text = (await readText(path, CHECKED_LOCK_MAX)) ?? ''
    const { packages, findings } = findCovered(await indexOf(task), { name: path, text })
    const denied = findings.filter(
      ({ advisory }) => advisory.informational === null && isAtLeast(advisory, options.deny),
    )
    const summary = `${counted(findings.length, 'advisory', 'advisories')} for ${counted(packages, 'package')}; ${denied.length} denied`
    const result = { packages, denied: denied.length, advisories: findings.map(jsonOf) }
    report(result, [...findings.flatMap(linesOf), summary])
    if (denied.length > 0) throw new Exit(1)
  },
})

/** Returns the advisories of the registry folder, static tree or address that is asked. */
async function indexOf(task: Task<CheckOptions>): Promise<AdvisoryIndex> {
  const { io, options } = task
  const from = options.from ?? options.dir
  let index: AdvisoryIndex | null = null
  if (/^(?:sparse\+)?https?:/.test(from)) {
    const web = new Web({ env: io.env }, options.tokenStdin ? await readToken(io) : undefined)
    const base = from.replace(/^sparse\+/, '').replace(/\/(?:index\/?)?$/, '')
    web.trust(base)
    const bytes = await web.read(`${base}/${advisoriesPath}`, INDEX_MAX).finally(() => web.close())
    index = parseAdvisoryIndex(String(bytes))
  } else if (isRegistry(from)) {
    const opened = { ...task, options: { ...options, dir: from } }
    await withRegistry(
      opened,
      async ({ registry: { database, urls } }) => {
        index = { registry: [...urls.own], advisories: await listAdvisories(database) }
      },
      { reads: true },
    )
  } else index = parseAdvisoryIndex(String(await readText(join(from, advisoriesPath), INDEX_MAX)))
  return index ?? refuse('advisories_none', { from: plain(from) })
}

function jsonOf({ advisory, path, ...found }: Finding) {
  const { id, title, informational, aliases, ranges } = advisory
  const fixed = ranges.flatMap(range => range.fixed ?? [])
  const about = { id, title, severity: labelOf(advisory), informational, aliases, fixed }
  return { ...about, ...found, path }
}

function linesOf(finding: Finding): string[] {
  const { id, title, fixed, package: name, version } = jsonOf(finding)
  return [
    `${name} ${version}: ${id} (${wordOf(finding.advisory)}) ${title}`,
    `  by ${finding.path.join(' > ')}`,
    `  ${fixed.length > 0 ? `fixed in ${fixed.join(', ')}` : 'no version is known to be free of it'}`,
  ]
}

export const registerAdvisories = commandGroup('advisories', 'known holes in crates', [
  registerUpdate,
  registerCheck,
])
