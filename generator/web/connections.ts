import { X509Certificate } from 'node:crypto'
import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { rootCertificates } from 'node:tls'
import type { Dispatcher } from 'undici'
import { refuse } from '../../core/error/error.ts'
import { hasScheme } from '../../core/settings/kind.ts'
import { readNamedSync } from '../places/disk/files.ts'
import { isForbiddenAddress, isPrivateAddress, PrivateAddress } from './private-address.ts'

const PER_ORIGIN = 32

/** The ways to servers: through a proxy or not, and the certificates that are trusted. */
export interface Routes {
  /** Certificates in PEM to trust besides those of Node. */
  readonly ca: string | null
  /** The URL of a proxy, empty for none. */
  readonly httpProxy: string
  readonly httpsProxy: string
  readonly noProxy: string
}

/** Reads the file of certificates and the variables; refuses what cannot be used. */
export function readRoutes(
  caFile: string | null,
  env: Readonly<Record<string, string | undefined>>,
): Routes {
  return {
    ca: caFile === null ? null : readCertificates(caFile),
    httpProxy: proxyIn(env, 'HTTP_PROXY'),
    httpsProxy: proxyIn(env, 'HTTPS_PROXY'),
    noProxy: variable(env, 'NO_PROXY'),
  }
}

/**
 * Opens connections: none to a private address, unless `isTrusted` says so of the host. Where a
 * proxy looks up names, only the proxy can know their addresses.
 */
export async function openConnections(
  { ca, ...proxies }: Routes,
  isTrusted: (host: string) => boolean,
): Promise<Dispatcher> {
  // Loaded only now: most commands read nothing from the web.
  // A bundle of CommonJS has no names but this.
  const { EnvHttpProxyAgent, Pool } = (await import('undici')).default
  const tls = ca === null ? {} : { ca: [...rootCertificates, ca] }
  return new EnvHttpProxyAgent({
    ...proxies,
    // Proxies refuse tunnels to other ports than that of https.
    proxyTunnel: false,
    connect: { ...tls, autoSelectFamily: true, lookup: guardedLookup(isTrusted) },
    requestTls: tls,
    proxyTls: tls,
    factory: (origin, options) => new Pool(origin, { ...options, connections: PER_ORIGIN }),
  })
}

/** Checks the very addresses that are connected to: another look-up could give others. */
function guardedLookup(isTrusted: (host: string) => boolean): LookupFunction {
  return (host, options, done) =>
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      const isNamed = isTrusted(host)
      const isRefused = isNamed ? isForbiddenAddress : isPrivateAddress
      const forbidden = addresses.find(({ address }) => isRefused(address))
      if (!forbidden) return done(null, addresses)
      done(new PrivateAddress(host, forbidden.address, isNamed), [])
    })
}

function readCertificates(path: string): string {
  try {
    const text = readNamedSync(path)
    // Node ignores a text without certificates.
    new X509Certificate(text)
    return text
  } catch (error) {
    return refuse('tls_unreadable', { path, reason: (error as Error).message })
  }
}

function proxyIn(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const text = variable(env, name)
  if (text === '') return ''
  const url = text.includes('://') ? text : `http://${text}`
  return hasScheme(url, 'http', 'https') ? url : refuse('proxy_invalid', { variable: name })
}

function variable(env: Readonly<Record<string, string | undefined>>, name: string): string {
  return env[name.toLowerCase()] || env[name] || ''
}
