import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeCertificate } from '../support/certificate.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { serve } from '../support/plimsoll.ts'
import { serveHere } from '../support/program.ts'
import type { Origin } from '../support/raw-publish.ts'
import { RecordingProxy } from '../support/recording-proxy.ts'
import { startEngine } from '../support/s3/engine.ts'
import { environmentOf } from '../support/s3/environment.ts'
import { type Driver, type Registry, readsSparse } from './driver.ts'
import { copyTemplate } from './registry-template.ts'

/** One daemon for readers and writers, the index over sparse HTTP, behind a recording proxy. */
export const daemonDriver: Driver = {
  name: 'daemon, sparse index',
  capabilities: ['sparse', 'api', 'repository', 'faults'],
  unfit: readsSparse,
  isPrivateToo: true,
  start: (cleanup, folder, settings) => startDaemon(cleanup, folder, settings),
}

/** The daemon with its crates in a bucket, and a copy of the tree. */
export const bucketDriver: Driver = {
  ...daemonDriver,
  name: 'daemon, crates and tree in a bucket',
  isPrivateToo: false,
  start: async (cleanup, folder, settings) =>
    startDaemon(cleanup, folder, { ...(await buckets(cleanup)), ...settings }),
}

/**
 * Daemons on one PostgreSQL server and one bucket behind a load balancer, which gives each request
 * to another daemon than the last. Needs a run on PostgreSQL, because records in a file are for
 * one machine.
 */
export const clusterDriver: Driver = {
  ...daemonDriver,
  name: 'two daemons, records on PostgreSQL, crates and tree in a bucket',
  capabilities: ['sparse', 'api', 'faults'],
  isPrivateToo: false,
  // A daemon passes on a file of a bucket as it comes.
  lacks: ['http-gzip'],
  start: async (cleanup, folder, settings) => {
    // Each daemon would have its own git index.
    const env = { PLIMSOLL_GIT_INDEX: 'off', ...(await buckets(cleanup)), ...settings }
    return startDaemon(cleanup, folder, env, 2)
  },
}

/**
 * The daemon with its own certificate. Nothing stands between it and the client: a recorder on the
 * way would speak HTTP/2 with Cargo in its place.
 */
export const tlsDriver: Driver = {
  name: 'daemon, TLS and HTTP/2',
  capabilities: ['sparse', 'api', 'repository', 'tls'],
  unfit: readsSparse,
  async start(cleanup, folder, settings) {
    const home = join(folder, 'registry')
    const token = await copyTemplate(cleanup, home)
    const { cert, key } = makeCertificate(folder)
    const tls = { PLIMSOLL_TLS_CERT: cert, PLIMSOLL_TLS_KEY: key }
    const { url: baseUrl } = await serveHere(cleanup, home, { ...tls, ...settings })
    return {
      ...daemonRegistry({ baseUrl, ca: readFileSync(cert, 'utf8') }, folder, token),
      cargoEnv: { CARGO_HTTP_CAINFO: cert, CARGO_HTTP_MULTIPLEXING: 'true', GIT_SSL_CAINFO: cert },
    }
  },
}

/** Starts a daemon, or several of one registry that answer in turn. */
export async function startDaemon(
  cleanup: Cleanup,
  folder: string,
  settings: NodeJS.ProcessEnv,
  count = 1,
) {
  const homes = Array.from({ length: count }, (_, at) => join(folder, `registry-${at}`))
  const [home = '', ...others] = homes
  const token = await copyTemplate(cleanup, home)
  for (const other of others) cpSync(home, other, { recursive: true })
  const proxy = await RecordingProxy.start(cleanup)
  const env = { PLIMSOLL_REGISTRY_BASE_URL: proxy.url, ...settings }
  // In one process, several would share more than records and crates.
  const start = count > 1 ? serve : serveHere
  const daemons = await Promise.all(homes.map(each => start(cleanup, each, env)))
  proxy.passTo(...daemons.map(({ url }) => url))
  return {
    ...daemonRegistry({ baseUrl: proxy.url }, folder, token),
    requests: proxy.requests,
    interfere: proxy.interfere.bind(proxy),
  }
}

function daemonRegistry(origin: Origin, folder: string, token: string) {
  return {
    ...origin,
    indexUrl: `sparse+${origin.baseUrl}/index/`,
    token,
    async publish(cargo, projects) {
      for (const { folder: project } of projects)
        await cargo.ok(project, 'publish', '--no-verify', '--allow-dirty', '--registry', 'test')
    },
    async yank(cargo, name, version) {
      await cargo.ok(folder, 'yank', '--registry', 'test', `${name}@${version}`)
    },
  } satisfies Registry
}

async function buckets(cleanup: Cleanup): Promise<NodeJS.ProcessEnv> {
  const places = { crates: 's3://test/crates', public: 's3://test/www' }
  return environmentOf(await startEngine(cleanup), places)
}
