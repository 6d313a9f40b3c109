import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { isInRanges } from '../../core/advisory/ranges.ts'
import { refuse } from '../../core/error/error.ts'
import { findImpact, HOWS, type How, type Reach, type Target } from '../../core/impact/impact.ts'
import { canonicalName, isName } from '../../core/name.ts'
import { crateRecordPath } from '../../core/paths/crates.ts'
import { advisoriesPath, configPath, updatesPath } from '../../core/paths/tree.ts'
import { counted } from '../../core/quantity.ts'
import { timestamp } from '../../core/timestamp.ts'
import { parseRule } from '../../core/upstream/rules.ts'
import { openGraph, type ReadText } from '../impact/graph.ts'
import { readTextSync } from '../places/disk/files.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { command, type Task, withRegistry } from './console/command.ts'
import { table } from './console/table.ts'

type ImpactTask = Task<{ how?: How; report?: boolean; advisory?: string }>

export const registerImpact = command('impact', {
  about: 'find which versions reach a crate by what they require, directly or through others',
  takes: {
    '<name[@req]>': 'the crate, and perhaps which versions, such as `demo@<1.2.3`',
    '--advisory <id>': 'only the versions that this advisory covers',
    '--how <how>': {
      about: 'only what Cargo takes today, or all that it may take; default: both',
      choices: HOWS,
    },
    '--report': 'print a Markdown document that also says who published them, when and from where',
  },
  examples: {
    'plimsoll impact demo@1.2.0': 'finds what has a bad version in it',
    'plimsoll impact "demo@<1.2.3" --report': 'writes it down for others',
    'plimsoll impact demo --advisory RUSTSEC-2026-0001': 'finds what a known hole reaches',
    'plimsoll impact demo --dir public --json': 'reads a static tree',
  },
  json: 'an object: `target`, with `name`, `requirement` and `advisory`, texts or null, and `here`, whether the crate is one of this registry; `reaches`, an array with `crate` and `version`; `how`, "resolved" where the newest version that fits is affected, or "possible" where only another one is; `kind`, "normal", "build", "ships with" (a packaged Cargo.lock) or "dev"; `path`, an array of `NAME@VERSION` from it to the target',
  fails: 'the folder could not be read',
  async run(task: ImpactTask, spec: string) {
    // V8 lets a heap grow to four times what lives in it.
    setFlagsFromString('--optimize-for-size')
    const { dir } = task.options
    const inTree: ReadText = async path => readTextSync(join(dir, path))
    if ((await inTree(configPath)) !== null) {
      // Of a tree, no more is known than when its last version was published.
      const [, updated = ''] = /<updated>([^<]*)</.exec((await inTree(updatesPath)) ?? '') ?? []
      return printImpact(task, spec, { read: inTree, upstreams: [], at: updated })
    }
    await withRegistry(
      task,
      async ({ io, registry: { database, tree }, registry }) => {
        const { countMarks, lastChange } = await import('../records/marks.ts')
        const { value } = await import('../database/statement.ts')
        const { openUpstreams } = await import('../upstream/open.ts')
        const [late] = await countMarks(database, ['dependents'])
        if (late) io.err('warning: some changes are still being rendered, and are not seen yet')
        const upstreams = await openUpstreams(registry, { env: io.env })
        const read: ReadText = async path =>
          tree.shared
            ? ((await tree.read(path))?.toString() ?? null)
            : readTextSync(tree.path(path))
        const sql = 'SELECT at FROM audit WHERE id = ?'
        const at = await value<string>(database, sql, await lastChange(database))
        const crates = { read, upstreams: [...upstreams.byName.values()], at }
        await printImpact(task, spec, crates).finally(() => upstreams.close())
      },
      { reads: true },
    )
  },
})

/** What is asked, and the time of its last change. */
interface Crates {
  readonly read: ReadText
  readonly upstreams: readonly Upstream[]
  readonly at: string | null
}

async function printImpact(
  { io, options }: ImpactTask,
  spec: string,
  { read, upstreams, at }: Crates,
): Promise<void> {
  const [, name = '', requirement = null] = /^([^@]*)(?:@(.*))?$/s.exec(spec) ?? []
  const rule = parseRule(spec, 'deny')
  if (!rule || !isName(name)) return refuse('impact_spec_invalid', { spec })
  const advisory = options.advisory ? await findAdvisory(options.advisory, name, read) : null
  const graph = await openGraph(read, upstreams)
  const crate = advisory?.isElsewhere ? { name, isElsewhere: true } : await graph.find(name)
  const isAffected: Target['isAffected'] = version =>
    rule.matches(name, version) && (advisory === null || isInRanges(advisory.ranges, version))
  const bounds = `${requirement} ${JSON.stringify(advisory?.ranges)}`
  const target = { crate, isAffected, bounds }
  const impact = findImpact(graph, target, options.how ? [options.how] : HOWS)
  if (options.json) {
    // One after the other: all of them may be more than fits into memory.
    const about = {
      name: crate.name,
      requirement,
      advisory: advisory?.id ?? null,
      here: !crate.isElsewhere,
    }
    io.out(`{"target":${JSON.stringify(about)},"reaches":[`)
    let comma = ' '
    for await (const reach of impact) {
      io.out(comma + JSON.stringify(reach))
      comma = ','
    }
    return io.out(']}')
  }
  const reaches: Reach[] = []
  for await (const reach of impact) reaches.push(reach)
  const crates = counted(new Set(reaches.map(reach => reach.crate)).size, 'crate')
  const headline = `${spec} is reached by ${counted(reaches.length, 'version')} of ${crates}`
  const dates = [
    `- Asked: ${timestamp(io.now())}`,
    ...(advisory ? [`- Advisory: ${advisory.id} of ${advisory.modified}: ${advisory.title}`] : []),
    `- Registry: as of ${at || 'an unknown time'}`,
    '',
  ]
  const lines = options.report
    ? [`# ${headline}`, '', ...(await reportLines(reaches, read, dates))]
    : [...table(['VERSION', 'HOW', 'KIND', 'THROUGH'], reaches.map(cells)), headline]
  for (const line of lines) io.out(line)
}

/** Returns an advisory on a crate by its id or an alias, and whether it is about one elsewhere. */
async function findAdvisory(id: string, crate: string, read: ReadText) {
  const { isAbout } = await import('../../core/advisory/advisory.ts')
  const { parseAdvisoryIndex } = await import('../../core/advisory/index-file.ts')
  const index = parseAdvisoryIndex((await read(advisoriesPath)) ?? '')
  const advisory = index?.advisories.find(
    each =>
      [each.id, ...each.aliases].includes(id) &&
      canonicalName(each.package) === canonicalName(crate),
  )
  if (!index || !advisory) return refuse('impact_advisory_unknown', { id, crate })
  return { ...advisory, isElsewhere: !isAbout(advisory, crate, index.registry) }
}

function cells({ crate, version, how, kind, path }: Reach): readonly string[] {
  return [`${crate}@${version}`, how, kind, path.slice(1).join(' > ')]
}

/** Returns what a report says besides its title, by what the tree says of each crate. */
async function reportLines(
  reaches: readonly Reach[],
  read: ReadText,
  dates: readonly string[],
): Promise<readonly string[]> {
  const lines = [
    ...dates,
    '| version | how | kind | published by | at | commit | through |',
    '|---|---|---|---|---|---|---|',
  ]
  const records = new Map<string, ReadonlyMap<string, PublishedVersion>>()
  for (const { crate, version, how, kind, path } of reaches) {
    const record = records.get(crate) ?? (await publishedVersions(crate, read))
    records.set(crate, record)
    const { published_by: by, published_at: at, trustpub_data: job } = record.get(version) ?? {}
    const from = [by ?? job?.repository ?? job?.project_path, at, job?.sha].map(cell => cell ?? '–')
    lines.push(
      `| ${[`${crate}@${version}`, how, kind, ...from, path.slice(1).join(' > ')].join(' | ')} |`,
    )
  }
  return lines
}

/** Who published a version, as `crate.json` has it. */
interface PublishedVersion {
  readonly version: string
  readonly published_by?: string | null
  readonly published_at?: string | null
  readonly trustpub_data?: Readonly<Record<string, string | null>>
}

async function publishedVersions(crate: string, read: ReadText) {
  const text = await read(crateRecordPath(crate))
  const { versions }: { versions: PublishedVersion[] } = JSON.parse(text ?? '{"versions":[]}')
  return new Map(versions.map(version => [version.version, version]))
}
