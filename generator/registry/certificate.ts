import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Server } from 'node:tls'
import { issue, Refusal, refusalOnly, refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import { readNamedSync } from '../places/disk/files.ts'

export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate and its key, as PEM. */
type Pair = Readonly<Record<'cert' | 'key', Buffer>> & { readonly x509: X509Certificate }

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
  // Browsers and Rust's TLS take no name from the subject.
  const isFor =
    host === null || (isIP(host) ? x509.checkIP(host) : x509.checkHost(host, { subject: 'never' }))
  if (until < now) return new Refusal([issue('tls_expired', { cert, at: timestamp(until) })])
  if (from > now) return new Refusal([issue('tls_early', { cert, at: timestamp(from) })])
  return isFor ? null : new Refusal([issue('tls_foreign', { cert, host: String(host) })])
}

/** Returns the host by which clients know this registry; null when the settings do not say. */
export function tlsHost({ registry }: Pick<Settings, 'registry'>): string | null {
  return registry.base_url && new URL(registry.base_url).hostname.replace(/^\[|\]$/g, '')
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

export interface TlsWatch {
  /** Called with the reason why a certificate cannot be used or clients refuse it. */
  readonly onTlsFailure: (refusal: Refusal) => void
  /** Called with the end of validity of a certificate that has replaced another one. */
  readonly onTlsRenewed?: (until: Date) => void
  readonly renewalCheck?: number
  /** The host name that clients know; null for any. */
  readonly tlsHost?: string | null
}

/**
 * Polls the files and passes a new pair to the server, but none that clients refuse in the place of
 * a good one. Reports each reason once, also what is wrong with the present one. `renew` looks at
 * once, and reports any reason.
 */
export function watchTls(
  files: TlsFiles,
  server: Pick<Server, 'setSecureContext'>,
  present: Pair,
  { onTlsFailure, onTlsRenewed, renewalCheck = 5000, tlsHost = null }: TlsWatch,
): { renew(): void; expiry(): Date; stop(): void } {
  let last = present
  let complaint = ''
  const expiry = () => new Date(last.x509.validTo)
  const complain = (refusal: Refusal) => {
    if (refusal.message !== complaint) onTlsFailure(refusal)
    complaint = refusal.message
  }
  const check = () => {
    try {
      const now = readTls(files)
      const fault = faultOf(now, files, tlsHost)
      if (fault) complain(fault)
      else complaint = ''
      // Compare the bytes: a renewal may keep size and time.
      if (now.cert.equals(last.cert) && now.key.equals(last.key)) return
      if (fault && !faultOf(last, files, tlsHost)) return
      server.setSecureContext(now)
      last = now
      onTlsRenewed?.(expiry())
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      complain(error)
    }
  }
  check()
  const timer = setInterval(check, renewalCheck)
  timer.unref()
  const renew = () => {
    complaint = ''
    check()
  }
  return { renew, expiry, stop: () => clearInterval(timer) }
}

function readPem(path: string): Buffer {
  try {
    return Buffer.from(readNamedSync(path))
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
