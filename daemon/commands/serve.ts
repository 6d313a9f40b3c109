// daemon/commands: The commands that need accounts or a server. program.ts lists them; the library
// never loads them.
import type { Logger } from 'pino'
import { within } from '../../core/async/repeater.ts'
import { issue, Refusal, refuse, warning } from '../../core/error/error.ts'
import { type ListenAddress, parseListen } from '../../core/settings/kind.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import { cargoConfig, cargoSetup } from '../../core/upstream/cargo-config.ts'
import type { Alarm } from '../../core/upstream/crate.ts'
import { requireOwnDl } from '../../core/urls/dl-template.ts'
import { registryUrls } from '../../core/urls/urls.ts'
import {
  addUser,
  hasNoUsers,
  lacksAdministrator,
  NO_ADMINISTRATOR,
} from '../../generator/accounts/accounts.ts'
import { makeLink, passwordLink } from '../../generator/accounts/credentials.ts'
import { openOidc } from '../../generator/accounts/oidc/client.ts'
import { createToken } from '../../generator/accounts/tokens.ts'
import { takeAdvisories } from '../../generator/advisories/update.ts'
import { command, settingRows, type Task } from '../../generator/cli/console/command.ts'
import { type Io, sourcesOf } from '../../generator/cli/console/io.ts'
import { painter } from '../../generator/cli/console/terminal.ts'
import { openRegistry } from '../../generator/open.ts'
import { asCaller, workAsOwner } from '../../generator/places/disk/caller.ts'
import { damage } from '../../generator/places/disk/damage.ts'
import { disk } from '../../generator/places/disk/disk.ts'
import { PLIMSOLL } from '../../generator/projections/context.ts'
import { type Change, operatorChange } from '../../generator/records/change.ts'
import { registryCounts } from '../../generator/records/crates.ts'
import { isPaused, readPause } from '../../generator/records/pause.ts'
import { tlsHost } from '../../generator/registry/certificate.ts'
import { isRegistry, readSettings } from '../../generator/registry/folder.ts'
import {
  findDamage,
  initRegistry,
  type Registry,
  serveLock,
} from '../../generator/registry/registry.ts'
import { beginServing, recordServed, type Serving } from '../../generator/serving.ts'
import { describePause } from '../../generator/status.ts'
import { TrustedIssuers } from '../../generator/trust/verify.ts'
import { openUpstreams } from '../../generator/upstream/open.ts'
import { createApp } from '../app.ts'
import { listen } from '../http/listen.ts'
import { logFailure, openLog } from '../http/log.ts'
import { Metrics } from '../http/metrics.ts'
import { whileStarting } from '../readiness.ts'
import { upstreamMetrics } from '../upstream/metrics.ts'
import { UpstreamWorker } from '../upstream/upstream-worker.ts'
import type { Worker } from '../workers/worker.ts'
import { openWorkers } from '../workers/workers.ts'
import { type Life, type Reload, reload } from './reload.ts'

/** For so many milliseconds at most a stop waits for the look at the database. */
const LOOK_MS = 1000

/** The log message when the other daemons cannot be told that this one stops. */
const STILL_LISTED = 'this daemon is listed as serving for some more seconds'

export const registerServe = command('serve', {
  about: 'run the daemon: publishing, the web API and the pages',
  takes: { ...settingRows, '--init': 'create the registry folder if it is missing' },
  examples: {
    'plimsoll serve': 'serves ./registry at http://127.0.0.1:8080',
    'plimsoll serve --listen 9000': 'serves it at http://127.0.0.1:9000',
    'plimsoll serve --listen 0.0.0.0:8080 --base-url https://crates.example.com': 'serves others',
    'plimsoll serve --init --dir /data': 'the same in a container: /data may be empty at first',
  },
  fails: 'the registry cannot be served',
  run: serve,
})

/** Serves a registry folder until it is stopped; then closes what it has opened, the last first. */
async function serve({ io, options, progress }: Task<{ readonly init?: boolean }>): Promise<void> {
  const life: Life = { stopped: io.stopped(() => life.reload()), reload: () => undefined }
  const { dir } = options
  const sources = sourcesOf(io, options)
  workAsOwner(dir)
  if (options.init && !isRegistry(dir)) {
    await initRegistry(dir, sources, {})
    io.err(`created a registry in ${dir}`)
  }
  const { settings } = readSettings(dir, sources)
  const address = requireAddress(io, settings)
  const lock = serveLock(dir)
  if (!lock.tryAcquire(`process ${process.pid}`))
    refuse('serve_locked', { dir, holder: lock.holder() })
  // The lock is the first: without the others, the process ends as if it were killed.
  const ends: End[] = [() => lock.release()]
  const { level, format } = settings.log
  const isText = format === 'auto' ? io.stderr.isTTY === true : format === 'text'
  const log = openLog(level, io.stderr, isText ? 'text' : 'json', painter(io.stderr, io.env))
  try {
    const { cert, key } = settings.tls
    const order = {
      ...address,
      requestSeconds: settings.limits.request_seconds,
      meanwhile: whileStarting,
      tls: cert !== null && key !== null ? { cert, key } : null,
      tlsHost: tlsHost(settings),
      onTlsFailure: (refusal: Refusal) =>
        logFailure(log, refusal, 'the TLS files are not good; one in use that is good is kept'),
      onTlsRenewed: (until: Date) =>
        log.info(`a renewed certificate is in use, which is valid until ${timestamp(until)}`),
    }
    // Root alone may use a port below 1024, and its TLS key.
    const server = await asCaller(() => listen(order))
    // Otherwise a daemon that failed to start would keep its address and never exit.
    ends.push(() => server.stop(0))
    const { version } = io.program ?? PLIMSOLL
    lock.describe(`process ${process.pid} at ${server.url}, version ${version}`)
    // Cargo would get 404 for every download of a crate that other daemons published.
    requireOwnDl(registryUrls(settings.registry, server.url))
    const registry = await openRegistry(dir, { ...sources, base: server.url, progress })
    io.transient?.('')
    ends.push(() => registry.close())
    const serving = await beginServing(registry, server.url)
    ends.push(() => serving?.end().catch(error => log.warn({ err: error }, STILL_LISTED)))
    const before = await recordServed(registry)
    const { access, kept } = registry.access
    const read = () => readSettings(dir, { ...sources, before: access }).settings
    await readAdvisories(registry, log)
    if (kept.length > 0) log.warn(warning('access_kept', { keys: kept.join(', ') }).message)
    if (before !== null && settings.registry.base_url === null)
      log.warn(warning('base_url_changed', { before, now: registry.urls.base }).message)
    await work(io, life, { registry, server, serving, log, read, ends })
  } finally {
    await closeAll(ends)
  }
  log.info('stopped')
}

/** Takes what `advisories/` has now; a registry is served without what cannot be read or kept. */
async function readAdvisories(registry: Registry, log: Logger): Promise<void> {
  try {
    const issues = await takeAdvisories(registry, operatorChange(timestamp(registry.clock())))
    for (const { message } of issues.slice(0, 20)) log.warn(message)
  } catch (error) {
    logFailure(log, error, 'the advisories stay as they were')
  }
}

type End = () => unknown

/** Calls all of them, the last one first, even if some fail. */
async function closeAll(ends: readonly End[]): Promise<void> {
  const last = ends.at(-1)
  try {
    await last?.()
  } finally {
    if (last) await closeAll(ends.slice(0, -1))
  }
}

/** An opened registry and its server; `serving` is null where there can be no other daemon. */
interface Service extends Omit<Reload, 'answer'> {
  readonly serving: Serving | null
  readonly ends: End[]
}

async function work(
  io: Io,
  life: Life,
  { registry, server, serving, log, read, ends }: Service,
): Promise<void> {
  const patience = () => registry.settings.server.shutdown_seconds
  const left = countdown(patience)
  const metrics = new Metrics(registry, server.tlsExpiry)
  await registry.crates.sweep()
  const { list, outdated, ...workers } = await openWorkers(registry, serving, log, metrics, io.env)
  let looked: Promise<unknown> = Promise.resolve()
  // A thread inside SQLite cannot be stopped: what it opens would lie in a folder that is gone.
  ends.push(() => within(looked, LOOK_MS, null))
  const onAlarm = (upstream: string, { kind, name, version }: Alarm) =>
    log.warn({ upstream, kind, crate: name, version }, 'an upstream has raised an alarm')
  const upstreams = await openUpstreams(registry, { env: io.env, onAlarm })
  ends.push(() => upstreams.close())
  const logins = openOidc(registry, io.env)
  ends.push(() => Promise.all([...logins.values()].map(client => client.close())))
  for (const { files } of upstreams.sources) await files.store.sweep()
  upstreamMetrics(upstreams, metrics.prometheus, registry.clock)
  const issuers = new TrustedIssuers({ ...registry, env: io.env })
  const started: Worker[] = []
  ends.push(async () => {
    for (const worker of started) await worker.close(left())
  })
  ends.push(() => server.stop(left()))
  for (const worker of [...list, new UpstreamWorker(registry, upstreams, log)]) {
    started.push(worker)
    const early = await Promise.race([worker.start(), life.stopped])
    if (!early) continue
    log.info({ signal: early }, 'stopping before the start is over')
    // What is open may wait for a storage that is away. As after a kill, the next start goes on.
    return void ends.splice(1)
  }
  const { crates, releases } = await registryCounts(registry.database)
  const answer = () => {
    const app = createApp({ registry, log, metrics, upstreams, issuers, logins, ...workers })
    server.answer(app.fetch, app.quick)
  }
  answer()
  life.reload = () => reload({ registry, server, log, read, answer })
  looked = watchDamage(registry, log)
  await printWelcome(io, registry)
  if (await lacksAdministrator(registry.database, registry.settings, registry.clock()))
    log.warn(NO_ADMINISTRATOR)
  const pause = await readPause(registry.database)
  if (pause) log.warn(describePause(pause))
  const { node } = process.versions
  if (node.startsWith('20.')) log.warn(warning('node_ended', { node }).message)
  io.out(`listening on ${server.url}`)
  disk.useThread()
  log.info({ url: server.url, crates, releases }, `started in ${registry.dir}`)
  const signal = await Promise.race([life.stopped, outdated])
  const hint = signal === 'SIGINT' ? '; Ctrl-C again stops at once' : ''
  log.info({ signal }, `stopping: finishing work, at most ${patience()} s${hint}`)
}

/** Looks for damage of the database after the start; logs damage whenever it is found. */
function watchDamage(registry: Registry, log: Logger): Promise<unknown> {
  damage.onFound = reason => log.error(issue('database_damaged', { reason }).message)
  const fail = (error: unknown) => logFailure(log, error, 'cannot look for damage')
  return findDamage(registry).catch(fail)
}

/** Returns what tells how many seconds are left; they begin with the first call. */
function countdown(seconds: () => number): () => number {
  let end: number | null = null
  return () => {
    const now = performance.now() / 1000
    end ??= now + seconds()
    return Math.max(0, end - now)
  }
}

/** Returns where to listen; refuses or warns if that has to be the base URL, and cannot. */
function requireAddress(io: Io, { server, registry }: Settings): ListenAddress {
  const address = parseListen(server.listen)
  if (!address) throw new Error(`settings let the address ${server.listen} through`)
  if (registry.base_url !== null) return address
  if ('socket' in address) refuse('base_url_missing', { address: `unix:${address.socket}` })
  if (address.host === '0.0.0.0' || address.host === '::')
    io.err(
      `warning: listening on every address of this machine, but links point to ${address.host}, which other machines cannot reach; set \`registry.base_url\` to the address at which users reach the registry`,
    )
  return address
}

const NO_PASSWORDS = `
There are no users yet, and no passwords. Members of \`admin_groups\` become administrators when
they log in at the issuer. Otherwise \`plimsoll user add NAME --admin\` adds one, and
\`plimsoll user link NAME\` prints a link with which they log in, once.
`

/** Prints the first steps for users; without any user, adds `admin` and prints its token. */
async function printWelcome(io: Io, { settings, urls, database }: Registry): Promise<void> {
  const { name } = settings.registry
  const config = cargoConfig(cargoSetup(settings, urls))
  io.out(`Paste this into .cargo/config.toml:\n\n${config}`)
  io.out(`The page of the registry is ${urls.base}/`)
  if (!(await hasNoUsers(database))) return
  if (settings.auth.passwords === 'off') return io.out(NO_PASSWORDS)
  const change = operatorChange(timestamp(io.now()))
  const admin = await addAdmin(database, change)
  if (!admin) return
  const order = { userId: admin.id, name: 'first start', expires: null, scopes: null, crates: null }
  const { token } = await createToken(database, order, change)
  const secret = await makeLink(database, admin, io.now(), change)
  io.out(`
To publish, run this and paste the token of \`admin\`, which is shown only once:

    cargo login --registry ${name}

    ${token}

To log in to the page, set a password for \`admin\` with this link (once, within 24 hours):

    ${passwordLink(urls, secret)}
`)
}

/** Adds `admin`; null in a pause, and if another daemon that begins now has, and prints the token. */
async function addAdmin(database: Registry['database'], change: Change) {
  try {
    return await addUser(database, { login: 'admin', admin: true }, change)
  } catch (error) {
    if (isPaused(error) || (error instanceof Refusal && error.has('login_taken'))) return null
    throw error
  }
}
