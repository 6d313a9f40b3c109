import type { Server } from 'node:tls'
import { Refusal } from '../../core/error/error.ts'
import { faultOf, type Pair, readTls, type TlsFiles } from '../../generator/registry/certificate.ts'

export interface TlsWatch {
  /** Told why clients refuse a certificate, or it cannot be used. */
  readonly onTlsFailure: (refusal: Refusal) => void
  /** Told until when a certificate is valid that has replaced another one. */
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
