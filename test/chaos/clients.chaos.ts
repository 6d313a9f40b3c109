/**
 * Hostile clients, one kind after the other, against the real daemon. Meanwhile everybody else's
 * `/healthz` is measured, and the daemon's memory: it stays below a bound, and afterwards a publish
 * works as before. `--p99 50` in milliseconds is promised of a quiet machine; where the latency is
 * high before the attacks already, it is printed and not judged.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificate } from '../support/certificate.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { quantile } from '../support/measure.ts'
import { ATTACKS } from './clients/attacks.ts'
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
    const [victim, watcher] = name.startsWith('HTTP/2')
      ? [secure.daemon, secureProbe]
      : [daemon, probe]
    await watcher.take()
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, residentMiB(victim.child.pid))
    }, 50)
    const summary = await attack({
      ...{ url, secureUrl: secure.url, token, random: run.random },
      ...{ milliseconds: ATTACK_MS, largeCrate: '/crates/large/large-1.0.0.crate' },
    })
    clearInterval(watch)
    ensure(!victim.hasEnded, victim.story('ended'))
    const late = quantile(await watcher.take(), 0.99)
    run.row(name, `${summary}; /healthz p99 ${late.toFixed(0)} ms, at most ${most} MiB`)
    console.log(`  ${name}: p99 ${late.toFixed(0)} ms, ${most} MiB`)
    const words = `${name}: /healthz p99 is ${late.toFixed(0)} ms, ${bound} is promised`
    ensure(!isQuiet || late <= bound, words)
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
  const { cert, key } = makeCertificate(run.folder)
  const daemon = folder.serve({ env: { PLIMSOLL_TLS_CERT: cert, PLIMSOLL_TLS_KEY: key } })
  run.onEnd(() => daemon.kill())
  return { daemon, url: await daemon.url() }
}

function lost(): never {
  throw new Violation('the daemon broke off')
}
