import type { Command } from 'commander'
import { collect, refuse, refuseErrors } from '../../../core/error/error.ts'
import { isName } from '../../../core/name.ts'
import { counted, formatBytes } from '../../../core/quantity.ts'
import { parseRequirement } from '../../../core/requirement.ts'
import { before, timestamp } from '../../../core/timestamp.ts'
import { sentenceOf } from '../../../core/upstream/explain.ts'
import { readLockFiles } from '../../export/lock-files.ts'
import { operatorChange } from '../../records/change.ts'
import type { Registry } from '../../registry/registry.ts'
import { acceptVersion } from '../../upstream/alarms.ts'
import { decideVersion } from '../../upstream/decisions.ts'
import { fetchAhead } from '../../upstream/fetch.ts'
import { openUpstreams, type Upstreams } from '../../upstream/open.ts'
import { prune } from '../../upstream/prune.ts'
import { renderUpstream } from '../../upstream/tree.ts'
import type { Upstream } from '../../upstream/upstream.ts'
import { withRegistry } from '../console/folder.ts'
import { type FolderOptions, type Io, report, withDir } from '../console/io.ts'
import { withManual } from '../console/manual.ts'
import { progressLine } from '../console/progress.ts'
import { parseSpec } from '../release-spec.ts'

interface Options extends FolderOptions {
  readonly upstream?: string
  readonly lock?: string[]
  readonly crate?: string[]
  readonly undo?: boolean
  readonly keepLock?: string[]
  readonly olderThan?: string
  readonly yes?: boolean
  readonly json?: boolean
}

/** `upstream`: what is kept of another registry, and what is shown of it. */
export function registerUpstream(program: Command, io: Io): void {
  const upstream = program
    .command('upstream')
    .description('manage what is kept and shown of other registries')
  const verbs = [registerFetch, registerExplain, registerAllow, registerAccept, registerPrune]
  for (const register of verbs) register(upstream, io)
}

function registerFetch(parent: Command, io: Io): void {
  const command = withUpstream(parent.command('fetch'), io)
    .description('fetch crates of an upstream ahead of time, and render its tree')
    .option('--lock <file...>', 'everything that these Cargo.lock files name')
    .option('--crate <name@req...>', 'the newest versions that fit, with all that they need')
    .action((options: Options) =>
      withChosen(io, options, async (upstream, _, upstreams) => {
        const progress = progressLine(io)
        const { packages } = await readLockFiles(options.lock ?? [])
        const locked = packages.filter(({ source }) => upstreams.ofSource(source) === upstream)
        const wanted = (options.crate ?? []).map(wantedCrate)
        const { issues, ...total } = await fetchAhead(upstream, locked, wanted, progress.at)
        const tree = await renderUpstream(upstream)
        const others = packages.length - locked.length
        const again = tree.until && `held versions appear from ${tree.until} on; render again then`
        progress.done()
        report(io, options, { ...total, others, ...tree }, [
          `${counted(total.fetched, 'version')} fetched (${formatBytes(total.bytes)}), ${total.present} were here; the tree of ${upstream.name} has ${counted(tree.crates, 'crate')}`,
          ...(again === null ? [] : [again]),
          ...(others === 0 ? [] : [`left out: ${counted(others, 'package')} of other registries`]),
        ])
        refuseErrors(issues)
      }),
    )
  withManual(command, {
    examples: [
      ['plimsoll upstream fetch --lock Cargo.lock', 'what a project needs, for use offline'],
      ['plimsoll upstream fetch --crate serde@1 tokio', 'two crates with all their dependencies'],
    ],
    json: 'an object: `fetched` and `present`, numbers of versions; `bytes`; `others`, the number of packages of other registries; `crates` and `changed`, numbers of the rendered tree; `until`, when held versions appear, or null',
    fails: 'something could not be fetched; the rest was, and the same command goes on',
  })
}

function registerExplain(parent: Command, io: Io): void {
  const command = withUpstream(parent.command('explain'), io)
    .description('say how versions of an upstream are shown, and by which rule')
    .argument('<name[@version]>', 'a version, or a crate with all its versions')
    .action((spec: string, options: Options) =>
      withChosen(io, options, async upstream => {
        const { name, version } = parseSpec(spec)
        const all = (await upstream.explain(name)) ?? []
        const found = all.filter(each => version === null || each.version === version)
        if (found.length === 0) refuse('upstream_crate_unknown', { spec, upstream: upstream.name })
        report(io, options, found, found.map(sentenceOf))
      }),
    )
  withManual(command, {
    examples: [['plimsoll upstream explain serde@1.0.229', 'whether it is held, and until when']],
    json: 'an array with an object for each version: `upstream`; `name`; `version`; `state` ("shown", "held", "denied", "gone", "guarded" or "yanked"); `rule`; `until`, a date `YYYY-MM-DD` or null; `changed`, whether the upstream has changed it; `allowed`, whether an administrator has exempted it from the hold',
    fails: 'the upstream has no such version',
  })
}

function registerAllow(parent: Command, io: Io): void {
  const command = withUpstream(parent.command('allow'), io)
    .description('show a version although it is held')
    .argument('<name@version>', 'the version')
    .option('--undo', 'hold it again')
    .action((spec: string, options: Options) =>
      withChosen(io, options, async (upstream, { database }) => {
        const { name, version } = parseSpec(spec)
        if (version === null) return refuse('release_spec_invalid', { spec })
        const decided = { upstream: upstream.name, name, version }
        const allowed = !options.undo
        await decideVersion(database, operatorChange(timestamp(io.now())), decided, allowed)
        const text = `${spec} is ${allowed ? 'allowed' : 'held again'}`
        report(io, options, { ...decided, allowed }, [text])
      }),
    )
  withManual(command, {
    examples: [['plimsoll upstream allow openssl@0.10.99', 'a release that must not wait']],
    json: 'an object: `upstream`, `name`, `version`, `allowed`',
    fails: 'it could not be recorded',
  })
}

function registerAccept(parent: Command, io: Io): void {
  const command = withUpstream(parent.command('accept'), io)
    .description('take over what an upstream has changed of a version, and clear its alarm')
    .argument('<name[@version]>', 'the version; or the own crate that the upstream has, too')
    .action((spec: string, options: Options) =>
      withChosen(io, options, async (upstream, { database }) => {
        const { name, version } = parseSpec(spec)
        const change = operatorChange(timestamp(io.now()))
        const alarm = await acceptVersion(database, change, upstream, { name, version })
        report(io, options, { upstream: upstream.name, name, version, alarm }, [
          `accepted ${spec} as ${upstream.name} has it now`,
        ])
      }),
    )
  withManual(command, {
    examples: [['plimsoll upstream accept demo@1.0.0', 'trusts the new line of a version']],
    json: 'an object: `upstream`, `name`, `version`; `alarm`, whether one was cleared',
    fails: 'nothing is known of this crate',
  })
}

function registerPrune(parent: Command, io: Io): void {
  const command = withUpstream(parent.command('prune'), io)
    .description('remove .crate files of an upstream; they are fetched again when somebody asks')
    .option('--keep-lock <file...>', 'keep what these Cargo.lock files name')
    .option('--older-than <time>', 'keep younger files; for example 90d')
    .option('--yes', 'really remove; otherwise only say what would be')
    .action((options: Options, command: Command) => {
      if (!options.keepLock && options.olderThan === undefined)
        command.error('error: --keep-lock or --older-than is needed')
      return withChosen(io, options, async upstream => {
        const { keepLock = [], olderThan, yes = false } = options
        const { packages } = await readLockFiles(keepLock)
        const limit = olderThan === undefined ? null : before(io.now(), olderThan).getTime()
        const { paths, bytes, kept } = await prune(upstream, packages, limit, !yes)
        const what = `${counted(paths.length, 'file')} (${formatBytes(bytes)})`
        report(io, options, { removed: paths, bytes, kept, done: yes }, [
          `${yes ? 'removed' : 'would remove'} ${what}, ${kept} stay`,
        ])
        if (!yes && paths.length > 0) refuse('prune_unconfirmed')
      })
    })
  withManual(command, {
    examples: [['plimsoll upstream prune --keep-lock */Cargo.lock --yes', 'keeps what is in use']],
    json: 'an object: `removed`, an array of paths; `bytes`; `kept`, a number; `done`',
    fails: 'nothing was removed because --yes is missing',
  })
}

function withUpstream(command: Command, io: Io): Command {
  return withDir(command, io).option(
    '--upstream <name>',
    'which upstream; default: the one with a fallback, or the first',
  )
}

/** Runs `work` with the upstream that was chosen, or with the usual one. */
function withChosen(
  io: Io,
  options: Options,
  work: (upstream: Upstream, registry: Registry, all: Upstreams) => Promise<void>,
): Promise<void> {
  return withRegistry(io, options, async registry => {
    const upstreams = await openUpstreams(registry, { env: io.env })
    try {
      const { byName, usual } = upstreams
      if (usual === null) return refuse('upstream_none')
      const name = options.upstream ?? usual.name
      const upstream =
        byName.get(name) ?? refuse('upstream_unknown', { name, known: [...byName.keys()] })
      await work(upstream, registry, upstreams)
    } finally {
      await upstreams.close()
    }
  })
}

function wantedCrate(text: string) {
  const [name = '', given = '*'] = text.split(/@(.*)/s)
  const requirement = collect([], () => parseRequirement(given))
  if (!isName(name) || requirement === undefined)
    return refuse('crate_spec_invalid', { spec: text })
  return { name, requirement }
}
