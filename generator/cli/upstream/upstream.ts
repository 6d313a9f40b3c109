// generator/cli/upstream: The commands about upstreams. The program lists them; generator/upstream
// does their work.
import { collect, refuse, refuseErrors } from '../../../core/error/error.ts'
import { isName } from '../../../core/name.ts'
import { counted, formatBytes } from '../../../core/quantity.ts'
import { parseRequirement } from '../../../core/requirement.ts'
import { before } from '../../../core/timestamp.ts'
import { sentenceOf } from '../../../core/upstream/explain.ts'
import { requireThisBuild } from '../../../core/version.ts'
import { readLockFiles } from '../../export/export.ts'
import { acceptVersion } from '../../upstream/alarms.ts'
import { decideVersion } from '../../upstream/decisions.ts'
import { fetchAhead } from '../../upstream/fetch.ts'
import { openUpstreams, type Upstreams } from '../../upstream/open.ts'
import { prune, renderUpstream } from '../../upstream/tree.ts'
import type { Upstream } from '../../upstream/upstream.ts'
import { commandGroup, type RegistryTask, registryCommand } from '../console/command.ts'
import { parseSpec } from '../console/release-spec.ts'

interface Options {
  readonly upstream?: string
  readonly lock?: string[]
  readonly crate?: string[]
  readonly undo?: boolean
  readonly keepLock?: string[]
  readonly olderThan?: string
  readonly yes?: boolean
}

const WHICH = {
  '--upstream <name>': 'which upstream; default: the one with a fallback, or the first',
}

const registerFetch = registryCommand('fetch', {
  about: 'fetch crates of an upstream ahead of time, and render its tree',
  takes: {
    ...WHICH,
    '--lock <file...>': 'everything that these Cargo.lock files name',
    '--crate <name@req...>': 'the newest versions that fit, with all that they need',
  },
  examples: {
    'plimsoll upstream fetch --lock Cargo.lock': 'what a project needs, for use offline',
    'plimsoll upstream fetch --crate serde@1 tokio': 'two crates with all their dependencies',
  },
  json: 'an object: `fetched` and `present`, numbers of versions; `bytes`; `others`, the number of packages of other registries; `crates` and `changed`, numbers of the rendered tree; `until`, when held versions appear, or null',
  fails: 'something could not be fetched; the rest was, and the same command goes on',
  run: (task: RegistryTask<Options>) =>
    withChosen(task, async (upstream, upstreams) => {
      const { options, progress, report } = task
      const { packages } = await readLockFiles(options.lock ?? [])
      const locked = packages.filter(({ source }) => upstreams.ofSource(source) === upstream)
      const wanted = (options.crate ?? []).map(wantedCrate)
      const { issues, ...total } = await fetchAhead(upstream, locked, wanted, progress)
      const tree = await renderUpstream(upstream)
      const others = packages.length - locked.length
      const again = tree.until && `held versions appear from ${tree.until} on; render again then`
      report({ ...total, others, ...tree }, [
        `${counted(total.fetched, 'version')} fetched (${formatBytes(total.bytes)}), ${total.present} were here; the tree of ${upstream.name} has ${counted(tree.crates, 'crate')}`,
        again,
        others > 0 && `left out: ${counted(others, 'package')} of other registries`,
      ])
      refuseErrors(issues)
    }),
})

const registerExplain = registryCommand('explain', {
  about: 'say how versions of an upstream are shown, and by which rule',
  takes: { ...WHICH, '<name[@version]>': 'a version, or a crate with all its versions' },
  examples: { 'plimsoll upstream explain serde@1.0.229': 'whether it is held, and until when' },
  json: 'an array with an object for each version: `upstream`; `name`; `version`; `state` ("shown", "held", "denied", "gone", "guarded" or "yanked"); `rule`; `until`, a date `YYYY-MM-DD` or null; `changed`, whether the upstream has changed it; `allowed`, whether an administrator has exempted it from the hold; `mayAllow`, whether `allow` would show it; `advisories`, an array of texts: what covers it',
  fails: 'the upstream has no such version',
  run: (task: RegistryTask<Options>, spec: string) =>
    withChosen(task, async upstream => {
      const { name, version } = parseSpec(spec)
      const all = (await upstream.explain(name)) ?? []
      const explained = all.filter(each => version === null || each.version === version)
      if (explained.length === 0) {
        if (version)
          requireThisBuild(
            all.map(each => each.version),
            { name, version },
          )
        refuse('upstream_crate_unknown', { spec, upstream: upstream.name })
      }
      task.report(explained, explained.map(sentenceOf))
    }),
})

const registerAllow = registryCommand('allow', {
  about: 'show a version although it is held, or an advisory denies it',
  takes: { ...WHICH, '<name@version>': 'the version', '--undo': 'hold it again' },
  examples: { 'plimsoll upstream allow openssl@0.10.99': 'a release that must not wait' },
  json: 'an object: `upstream`, `name`, `version`, `allowed`',
  fails: 'it could not be recorded',
  run: (task: RegistryTask<Options>, spec: string) =>
    withChosen(task, async upstream => {
      const { name, version } = parseSpec(spec)
      if (version === null) return refuse('release_spec_invalid', { spec })
      const decided = { upstream: upstream.name, name, version }
      const allowed = !task.options.undo
      const crate = await upstream.source.index.kept(name)
      if (allowed) requireThisBuild(crate?.lines.keys() ?? [], decided)
      await decideVersion(task.registry.database, task.change, decided, allowed)
      // A rule may still deny it. Nobody asks the upstream for a crate that is unknown here.
      const all = crate && (await upstream.explain(name))
      const state = all?.find(each => each.version === version)
      const decision = `${spec} is ${allowed ? '' : 'not '}exempted from the hold`
      task.report({ ...decided, allowed }, [decision, state ? sentenceOf(state) : null])
    }),
})

const registerAccept = registryCommand('accept', {
  about: 'take over what an upstream has changed of a version, and clear its alarm',
  takes: {
    ...WHICH,
    '<name[@version]>': 'the version; or the own crate that the upstream has, too',
  },
  examples: { 'plimsoll upstream accept demo@1.0.0': 'trusts the new line of a version' },
  json: 'an object: `upstream`, `name`, `version`; `alarm`, whether one was cleared',
  fails: 'nothing is known of this crate',
  run: (task: RegistryTask<Options>, spec: string) =>
    withChosen(task, async upstream => {
      const { name, version } = parseSpec(spec)
      const { registry, change } = task
      const alarm = await acceptVersion(registry.database, change, upstream, { name, version })
      task.report({ upstream: upstream.name, name, version, alarm }, [
        `accepted ${spec} as ${upstream.name} has it now`,
      ])
    }),
})

const registerPrune = registryCommand('prune', {
  about:
    'remove .crate files of an upstream, and lines of which none was ever here; they are fetched again when somebody asks',
  takes: {
    ...WHICH,
    '--keep-lock <file...>': 'keep what these Cargo.lock files name',
    '--older-than <time>': 'keep younger files; for example 90d',
    '--yes': 'really remove; otherwise only say what would be',
  },
  examples: { 'plimsoll upstream prune --keep-lock */Cargo.lock --yes': 'keeps what is in use' },
  json: 'an object: `removed`, an array of paths; `bytes`; `kept`, a number; `done`',
  fails: 'nothing was removed because --yes is missing',
  run: (task: RegistryTask<Options>) =>
    withChosen(task, async upstream => {
      const { keepLock, olderThan, yes = false } = task.options
      if (!keepLock && olderThan === undefined)
        task.command.error('error: --keep-lock or --older-than is needed')
      const { packages } = await readLockFiles(keepLock ?? [])
      const limit = olderThan === undefined ? null : before(task.io.now(), olderThan).getTime()
      const { paths, bytes, kept } = await prune(upstream, packages, limit, !yes)
      const what = `${counted(paths.length, 'file')} (${formatBytes(bytes)})`
      task.report({ removed: paths, bytes, kept, done: yes }, [
        `${yes ? 'removed' : 'would remove'} ${what}, ${kept} stay`,
      ])
      if (!yes && paths.length > 0) refuse('prune_unconfirmed')
    }),
})

export const registerUpstream = commandGroup(
  'upstream',
  'manage what is kept and shown of other registries',
  [registerFetch, registerExplain, registerAllow, registerAccept, registerPrune],
)

async function withChosen(
  { io, registry, options }: RegistryTask<Options>,
  work: (upstream: Upstream, all: Upstreams) => Promise<void>,
): Promise<void> {
  const upstreams = await openUpstreams(registry, { env: io.env })
  try {
    const { byName, usual } = upstreams
    if (usual === null) return refuse('upstream_none')
    const name = options.upstream ?? usual.name
    const upstream =
      byName.get(name) ?? refuse('upstream_unknown', { name, upstreams: [...byName.keys()] })
    await work(upstream, upstreams)
  } finally {
    await upstreams.close()
  }
}

function wantedCrate(text: string) {
  const [name = '', range = '*'] = text.split(/@(.*)/s)
  const requirement = collect([], () => parseRequirement(range))
  if (!isName(name) || requirement === undefined)
    return refuse('crate_spec_invalid', { spec: text })
  return { name, requirement }
}
