import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:tls'
import { Refusal, refuse } from '../../generator/index.ts'

/** Where certificate chain and private key lie, both PEM. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** Reads certificate and key. Refuses files that are missing, not PEM, or no pair. */
export function readTls(files: TlsFiles): { cert: Buffer; key: Buffer } {
  const [cert, key] = [readPem(files.cert), readPem(files.key)]
  const certificate = parse(files.cert, 'a certificate', () => new X509Certificate(cert))
  const privateKey = parse(files.key, 'a private key', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) refuse('tls_mismatch', files)
  return { cert, key }
}

/** How to watch TLS files. */
export interface TlsWatch {
  /** Told when renewed files cannot be used. */
  readonly onTlsFailure: (refusal: Refusal) => void
  /** How often the files are looked at, in milliseconds; default: 5000. */
  readonly renewalCheck?: number
}

/**
 * Polls the files and gives the server a new certificate when they are a new valid pair; until then
 * it keeps the old one and reports once why. Returns a function that stops it.
 */
export function watchTls(
  files: TlsFiles,
  server: Pick<Server, 'setSecureContext'>,
  { onTlsFailure, renewalCheck = 5000 }: TlsWatch,
): () => void {
  let present = fingerprint(files)
  let complained = present
  const timer = setInterval(() => {
    const now = fingerprint(files)
    if (now === present) return
    try {
      server.setSecureContext(readTls(files))
      present = now
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (now !== complained) onTlsFailure(error)
      complained = now
    }
  }, renewalCheck)
  timer.unref()
  return () => clearInterval(timer)
}

/** The bytes themselves: a renewal may keep size and time. Empty for missing files. */
function fingerprint(files: TlsFiles): string {
  return [files.cert, files.key].map(path => tryRead(path)?.toString('base64') ?? '').join(' ')
}

function tryRead(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    // Whatever keeps the file from being read now, `readTls` says so when it matters.
    return null
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
