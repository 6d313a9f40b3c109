import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { issue, Refusal, refusalOnly, refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'

export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate and its key, as PEM. */
export type Pair = Readonly<Record<'cert' | 'key', Buffer>> & { readonly x509: X509Certificate }

/** Reads certificate and key. Refuses files that are missing, not PEM, or do not match. */
export function readTls(files: TlsFiles): Pair {
  const [cert, key] = [readPem(files.cert), readPem(files.key)]
  const x509 = parse(files.cert, 'a certificate', () => new X509Certificate(cert))
  const privateKey = parse(files.key, 'a private key', () => createPrivateKey(key))
  if (!x509.checkPrivateKey(privateKey)) refuse('tls_mismatch', files)
  return { cert, key, x509 }
}

/** Returns why clients refuse a certificate now; null when nothing is wrong with it. */
export function faultOf({ x509 }: Pair, { cert }: TlsFiles, host: string | null): Refusal | null {
  const [from, until, now] = [new Date(x509.validFrom), new Date(x509.validTo), new Date()]
  const isFor = host === null || (isIP(host) ? x509.checkIP(host) : x509.checkHost(host))
  if (until < now) return new Refusal([issue('tls_expired', { cert, at: timestamp(until) })])
  if (from > now) return new Refusal([issue('tls_early', { cert, at: timestamp(from) })])
  return isFor ? null : new Refusal([issue('tls_foreign', { cert, host: String(host) })])
}

/** Returns the host by which clients know this registry; null when the settings do not say. */
export function tlsHost({ registry }: Pick<Settings, 'registry'>): string | null {
  return registry.base_url && new URL(registry.base_url).hostname
}

/** Returns what is wrong with the TLS files of the settings; null without any, or when they are good. */
export function tlsProblem(settings: Pick<Settings, 'registry' | 'tls'>): string | null {
  const { cert, key } = settings.tls
  if (cert === null || key === null) return null
  try {
    return faultOf(readTls({ cert, key }), { cert, key }, tlsHost(settings))?.message ?? null
  } catch (error) {
    return refusalOnly(error).message
  }
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    return refuse('tls_unreadable', { path, reason: (error as Error).message })
  }
}

function parse<T>(path: string, what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    return refuse('tls_invalid', { path, what, reason: (error as Error).message })
  }
}
