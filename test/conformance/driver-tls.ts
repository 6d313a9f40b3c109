import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeCertificate } from '../support/certificate.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { DaemonRequests } from '../support/daemon-requests.ts'
import { serve } from '../support/plimsoll.ts'
import type { Driver, Registry } from './driver.ts'
import { readsSparse } from './driver.ts'
import { daemonRegistry } from './driver-daemon.ts'
import { copyTemplate } from './registry-template.ts'

/**
 * The daemon with its own certificate. Nothing stands between it and the client: requests are read
 * from the daemon's log, because a recorder on the way would speak HTTP/2 with Cargo in its place.
 */
export const tlsDriver: Driver = {
  name: 'daemon, TLS and HTTP/2',
  capabilities: ['sparse', 'api', 'repository', 'tls', 'folder'],
  unfit: readsSparse,
  start: startTls,
}

async function startTls(
  cleanup: Cleanup,
  folder: string,
  settings: NodeJS.ProcessEnv,
): Promise<Registry> {
  const home = join(folder, 'registry')
  const token = await copyTemplate(cleanup, home)
  const { cert, key } = await makeCertificate(folder)
  const tls = { PLIMSOLL_TLS_CERT: cert, PLIMSOLL_TLS_KEY: key, PLIMSOLL_LOG_LEVEL: 'debug' }
  const daemon = await serve(cleanup, home, { ...tls, ...settings }, join(folder, 'log'))
  const origin = { baseUrl: daemon.url, ca: readFileSync(cert, 'utf8') }
  return {
    ...daemonRegistry(origin, { folder, home, token, log: daemon.log }),
    requests: new DaemonRequests(daemon.log),
    cargoEnv: { CARGO_HTTP_CAINFO: cert, CARGO_HTTP_MULTIPLEXING: 'true', GIT_SSL_CAINFO: cert },
  }
}
