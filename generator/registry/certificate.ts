import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { createSecureContext, rootCertificates, type Server } from 'node:tls'
import { issue, Refusal, refusalOnly, refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import { readNamedSync } from '../places/disk/files.ts'

export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate and its key, as PEM. */
type Pair = Readonly<Record<'cert' | 'key', Buffer>> & {
  /** The certificate, and those of its issuers that clients do not have themselves. */
  readonly chain: readonly [X509Certificate, ...X509Certificate[]]
}

/** Reads certificate and key. Refuses files that are missing, not PEM, unusable, or do not match. */
export function readTls(files: TlsFiles): Pair {
  const [cert, key] = [readPem(files.cert), readPem(files.key)]
  const x509 = parse(files.cert, 'a certificate', () => new X509Certificate(cert))
  const privateKey = parse(files.key, 'a private key', () => createPrivateKey(key))
  if (!x509.checkPrivateKey(privateKey)) refuse('tls_mismatch', files)
  // What follows the first certificate may be cut off, and a key too short for OpenSSL.
  parse(files.cert, 'certificates for a server', () => createSecureContext({ cert, key }))
  const others = (cert.toString().match(PEM) ?? []).map(pem => new X509Certificate(pem))
  return { cert, key, chain: [x509, ...issuersOf(x509, others)] }
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Stops at a root, of which another root may have signed a certificate whose time is over. */
function issuersOf(one: X509Certificate, others: readonly X509Certificate[]): X509Certificate[] {
  const issuer = others.find(other => one.checkIssued(other))
  if (!issuer || issuer.subject === issuer.issuer || isRoot(issuer)) return []
  return [
    issuer,
    ...issuersOf(
      issuer,
      others.filter(other => other !== issuer),
    ),
  ]
}

let roots: ReadonlySet<string> | null = null

function isRoot({ subject }: Pick<X509Certificate, 'subject'>): boolean {
  roots ??= new Set(rootCertificates.map(pem => new X509Certificate(pem).subject))
  return roots.has(subject)
}

/** What a certificate of a server may be used for (RFC 5280 §4.2.1.12). */
const FOR_SERVERS = '1.3.6.1.5.5.7.3.1'

/** Returns why clients refuse a certificate now; null when nothing is wrong with it. */
export function faultOf({ chain }: Pair, { cert }: TlsFiles, host: string | null): Refusal | null {
  const [x509] = chain
  for (const one of chain) {
    const what = one === x509 ? 'the certificate' : 'the certificate of an issuer'
    const [from, until, now] = [new Date(one.validFrom), new Date(one.validTo), new Date()]
    if (until < now)
      return new Refusal([issue('tls_expired', { what, cert, at: timestamp(until) })])
    if (from > now) return new Refusal([issue('tls_early', { what, cert, at: timestamp(from) })])
  }
  const uses: readonly string[] | undefined = x509.keyUsage
  if (uses && !uses.includes(FOR_SERVERS)) return new Refusal([issue('tls_purpose', { cert })])
  // Browsers and Rust's TLS take no name from the subject.
  const isFor =
    host === null || (isIP(host) ? x509.checkIP(host) : x509.checkHost(host, { subject: 'never' }))
  return isFor ? null : new Refusal([issue('tls_foreign', { cert, host: String(host) })])
}

/** Returns why clients that trust the roots of the present chain may not get to one from a new chain. */
function shortened({ chain }: Pair, present: Pair, { cert }: TlsFiles): Refusal | null {
  const [end = chain[0], top] = [chain.at(-1), present.chain.at(-1)]
  const isWhole = [end.subject, top?.issuer].includes(end.issuer) || isRoot({ subject: end.issuer })
  if (isWhole || chain.length >= present.chain.length) return null
  return new Refusal([issue('tls_shortened', { cert, issuer: end.issuer.replaceAll('\n', ', ') })])
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
  const expiry = () => new Date(Math.min(...last.chain.map(one => Date.parse(one.validTo))))
  const complain = (refusal: Refusal) => {
    if (refusal.message !== complaint) onTlsFailure(refusal)
    complaint = refusal.message
  }
  const check = () => {
    try {
      const now = readTls(files)
      const fault = faultOf(now, files, tlsHost) ?? shortened(now, last, files)
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
