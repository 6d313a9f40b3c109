import { counted, formatBytes, formatNumber } from '../../core/quantity.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { Alarm } from '../../core/upstream/crate.ts'
import { ALARMS, specOf } from '../../core/upstream/explain.ts'
import { describeDaemon } from '../database/daemons.ts'
import { PAGE_KINDS, workOf } from '../projections/projections.ts'
import type { FailedMark } from '../records/marks.ts'
import type { Failure } from '../records/values.ts'
import { findDamage } from '../registry/registry.ts'
import { readStatus, type Status, warningsOf } from '../status.ts'
import { listAlarms } from '../upstream/alarms.ts'
import { unmatchedRules } from '../upstream/names.ts'
import { openUpstreams } from '../upstream/open.ts'
import { type RegistryTask, registryCommand } from './console/command.ts'
import { Exit, type Line } from './console/io.ts'

export const registerStatus = registryCommand('status', {
  about: 'print counts, pending work, disk space and the last errors',
  examples: { 'plimsoll status': 'also works while a daemon is running' },
  json: 'an object: `crates`, `releases`, `users`, `pending` and `pending_pages`, numbers; `pending_work`, an array with `kind` and `n` of each kind of work; `daemons`, those that serve from a database server, an array with `id`, `host`, `process`, `url`, `version` and `ago`, in seconds; `daemon`, the one that serves this folder, `git_index`, `git_index_missing`, `git_index_problem`, texts or null; `base_url` and `index`; `database_bytes`; `database_damage`, what SQLite finds wrong with the file, a text or null; `disks`, an array with `what`, `free` and `size`, in bytes; `crate_store` and `public_tree`, where these are; `mirror`, the bucket with a copy of the tree, or null, and `mirror_complete`; `paused_until`, when a pause ends by itself, and `moving_to`, the database that the records are being copied to, texts or null; `programs`, the versions of `plimsoll`, `node`, and `sqlite` or `postgresql`; `commit`, the one that `plimsoll` was built from, or `unknown`; `last_errors`, with `mended` where the work has succeeded since, `failed_work` and `plain_pages`, arrays of objects; `tokens_without_read`, tokens for certain crates that were made to read, an array with `id`, `name` and `user`; `administrator_missing`, true or false; `tls_problem`, why clients refuse the certificate of `tls.cert`, or null; `upstream`, an object with `known`, an array with `name` and `index`, `alarms`, an array with `upstream`, `kind`, `crate`, `version` and `at`, and `unmatched`, an array with `upstream` and `rule`, the rules that match no version known here',
  fails: 'the registry cannot be read, or its database is damaged',
  reads: true,
  async run({ io, registry, report }: RegistryTask) {
    const damaged = await findDamage(registry)
    const status = await readStatus(registry, io.now(), Number.MAX_SAFE_INTEGER)
    const upstreams = await openUpstreams(registry, { env: io.env })
    const alarms: OpenAlarm[] = []
    for (const { name: upstream, place } of upstreams.sources)
      for (const { name: crate, ...alarm } of await listAlarms(place))
        alarms.push({ upstream, crate, ...alarm })
    const unmatched: { readonly upstream: string; readonly rule: string }[] = []
    for (const each of upstreams.byName.values())
      for (const rule of await unmatchedRules(each)) unmatched.push({ upstream: each.name, rule })
    await upstreams.close()
    const addresses = Object.values(registry.settings.upstream).map(({ name, index }) => ({
      name,
      index: index.slice('sparse+'.length),
    }))
    const json = { ...jsonOf(status), upstream: { known: addresses, alarms, unmatched } }
    const ruleLines = unmatched.map(
      ({ upstream, rule }) =>
        `rule      upstream.${upstream}.${rule} matches no version known here; compare its name and version`,
    )
    report(json, [...linesOf(status), ...alarms.map(alarmLine), ...ruleLines])
    if (damaged !== null) throw new Exit(1)
  },
})

type OpenAlarm = Omit<Alarm, 'name'> & { readonly upstream: string; readonly crate: string }

function alarmLine({ upstream, kind, crate: name, version, at }: OpenAlarm): string {
  const what = `${specOf({ name, version })} of ${upstream} ${ALARMS[kind]}`
  return `alarm     ${at} ${what} (\`plimsoll upstream accept\`)`
}

function pendingSums({ pending_work: work }: Pick<Status, 'pending_work'>) {
  const sum = (isMeant: (kind: string) => boolean) =>
    work.reduce((total, { kind, n }) => (isMeant(kind) ? total + n : total), 0)
  return { marks: sum(() => true), pages: sum(kind => PAGE_KINDS.includes(kind)) }
}

function jsonOf({ at, daemons, pause, programs, ...status }: Status) {
  const { marks, pages } = pendingSums(status)
  const versions = Object.entries(programs).map(
    ([name, version]) => [name.toLowerCase().replace(/\.js$/, ''), version] as const,
  )
  return {
    ...status,
    pending: marks,
    pending_pages: pages,
    daemons: daemons.map(({ common, ...daemon }) => daemon),
    paused_until: pause && timestamp(new Date(pause.until)),
    moving_to: pause?.place ?? null,
    programs: Object.fromEntries(versions),
  }
}

function linesOf(status: Status): Line[] {
  const { marks, pages } = pendingSums(status)
  const share = pages === marks ? 'all' : formatNumber(pages)
  const ofPages = pages > 0 ? `, ${share} of them pages` : ''
  return [
    `crates    ${formatNumber(status.crates)}`,
    `versions  ${formatNumber(status.releases)}`,
    `users     ${formatNumber(status.users)}`,
    `pending   ${formatNumber(marks)}${ofPages}`,
    ...status.pending_work.map(({ kind, n }) => `          ${workOf(kind)}: ${formatNumber(n)}`),
    ...(status.daemons.length > 0
      ? status.daemons.map(daemon => `daemon    ${describeDaemon(daemon)}`)
      : [`daemon    ${status.daemon ?? 'not running'}`]),
    `git index ${status.git_index ?? `none: ${status.git_index_missing}`}`,
    ...warningsOf(status).map(warning => `warning   ${warning}`),
    `index     ${status.index}`,
    `crates in ${status.crate_store}`,
    `tree in   ${status.public_tree}`,
    status.mirror !== null &&
      `copied to ${status.mirror}${status.mirror_complete ? '' : ', not yet complete'}`,
    `database  ${formatBytes(status.database_bytes)}`,
    ...status.disks.map(({ what, free, size }) => {
      const of = what === 'Disk' ? '' : `, ${what.toLowerCase()}`
      return `disk      ${formatBytes(free)} of ${formatBytes(size)} free${of}`
    }),
    `programs  ${Object.entries(status.programs)
      .map(pair => pair.join(' '))
      .join(', ')}`,
    `commit    ${status.commit}`,
    ...status.last_errors.map(failure => `error     ${failure.at} ${failureText(failure)}`),
    ...status.failed_work.map(mark => `failed    ${failedLine(mark)}`),
    ...status.plain_pages.map(
      ({ name, version, what, because }) =>
        `plain     ${what} of ${name} ${version}, because ${because}`,
    ),
  ]
}

/** Says what failed, why, and whether it has succeeded since. */
function failureText({ what, why, mended }: Failure): string {
  return `${what}${mended ? `, mended at ${mended}` : ', not mended'}: ${why}`
}

function failedLine({ kind, crate, version, attempts, retryAt, error }: FailedMark): string {
  const of = [crate, version].filter(part => part !== null).join(' ')
  return `${kind}${of && ` of ${of}`}: ${error} (${counted(attempts, 'attempt')}, next ${retryAt})`
}
