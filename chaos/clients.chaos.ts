/**
 * Hostile clients, one kind after the other, against the real daemon. Meanwhile everybody else's
 * `/healthz` is measured, and the daemon's memory: it stays below a bound, and afterwards a publish
 * works as before. `--p99 50` in milliseconds is promised of a quiet machine; where the latency is
 * high before the attacks already, it is printed and not judged. Over HTTP/2 a bare server of Node is
 * attacked in the same way: where already that is slower, 1.25 times its latency is promised.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildCrate } from '../test/support/crate-builder.ts'
import { quantile } from '../test/support/measure.ts'
import { ATTACKS } from './clients/attacks.ts'
import { BareServer } from './clients/bare.ts'
import { ensureSuccess, putVersion } from './driver/api.ts'
import { Probe, residentMiB } from './probe.ts'
import { Folder } from './program.ts'
import { chaos, ensure, type Run, Violation } from './run.ts'

/** Resident memory that a daemon may have at most, in MiB. */
const MEMORY_MAX = 768
/** Long enough that more than two or three requests are slower than the p99. */
const ATTACK_MS = 10_000
/** The p99 of `/healthz` before any attack on a machine that does nothing else, in milliseconds. */
const QUIET_MS = 15

await chaos('clients', { count: 1, minutes: 20, options: ['only', 'p99'] }, async run => {
  const folder = new Folder(join(run.folder, 'registry'))
  const [token = ''] = await folder.prepare('alice')
  const daemon = folder.serve()
  run.onEnd(() => daemon.kill())
  const url = await daemon.url()
  const secure = await serveSecurely(run)
  const noise = run.random.bytes(5_000_000)
  const large = buildCrate({ name: 'large', version: '1.0.0', files: { noise } })
  ensureSuccess('a publish', (await putVersion(url, token, 'large', '1.0.0', large)) ?? lost())
  await sleep(2000)
  const probe = new Probe(url)
  run.onEnd(() => probe.end())
  const secureProbe = new Probe(secure.url)
  run.onEnd(() => secureProbe.end())
  const bare = new BareServer(secure.pair)
  run.onEnd(() => bare.end())
  const bareUrl = await bare.url()
  const bareProbe = new Probe(bareUrl)
  run.onEnd(() => bareProbe.end())
  await sleep(2000)
  const before = quantile(await probe.take(), 0.99)
  const bound = Number(run.options.p99 ?? 50)
  const isQuiet = before <= QUIET_MS
  run.row(
    'before',
    `/healthz p99 ${before.toFixed(0)} ms, ${residentMiB(daemon.child.pid)} MiB${isQuiet ? '' : '; a busy machine: latencies are not judged'}`,
  )
  for (const [name, attack] of Object.entries(ATTACKS)) {
    if (run.options.only !== undefined && !name.includes(run.options.only)) continue
    const isSecure = name.startsWith('HTTP/2')
    const [victim, watcher] = isSecure ? [secure.daemon, secureProbe] : [daemon, probe]
    await watcher.take()
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, residentMiB(victim.child.pid))
    }, 50)
    const aim = {
      ...{ url, secureUrl: secure.url, token, random: run.random },
      ...{ milliseconds: ATTACK_MS, largeCrate: '/crates/large/large-1.0.0.crate' },
    }
    const description = await attack(aim)
    clearInterval(watch)
    ensure(!victim.hasEnded, victim.story('ended'))
    const times = await watcher.take()
    const late = quantile(times, 0.99)
    let floor = 0
    if (isSecure) {
      await sleep(500)
      await bareProbe.take()
      await attack({ ...aim, secureUrl: bareUrl })
      floor = quantile(await bareProbe.take(), 0.99)
    }
    const beside = isSecure ? `, of a bare server ${floor.toFixed(0)} ms` : ''
    run.row(
      name,
      `${description}; /healthz p99 ${late.toFixed(0)} ms${beside}, at most ${most} MiB`,
    )
    console.log(`  ${name}: p99 ${late.toFixed(0)} ms${beside}, ${most} MiB`)
    const limit = Math.max(bound, 1.25 * floor)
    ensure(
      !isQuiet || late <= limit,
      `${name}: /healthz p99 is ${late.toFixed(0)} ms, ${limit.toFixed(0)} is promised`,
    )
    ensure(most <= MEMORY_MAX, `${name}: ${most} MiB, ${MEMORY_MAX} is promised`)
    await sleep(500)
  }
  ensureSuccess('a publish afterwards', (await putVersion(url, token, 'after', '1.0.0')) ?? lost())
  run.row('after', `${residentMiB(daemon.child.pid)} MiB`)
})

/** A daemon with TLS, which speaks HTTP/2. */
async function serveSecurely(run: Run) {
  const folder = new Folder(join(run.folder, 'secure'))
  await folder.prepare('alice')
  const [cert, key] = [join(run.folder, 'cert.pem'), join(run.folder, 'key.pem')]
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes']
  const files = ['-keyout', key, '-out', cert]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, ...files], { stdio: 'pipe' })
  const daemon = folder.serve({ env: { PLIMSOLL_TLS_CERT: cert, PLIMSOLL_TLS_KEY: key } })
  run.onEnd(() => daemon.kill())
  const url = await daemon.url()
  return { daemon, url, pair: { cert, key } }
}

function lost(): never {
  throw new Violation('the daemon broke off')
}
