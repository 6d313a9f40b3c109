import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

/** A certificate (with its chain) and the private key that belongs to it, both PEM. */
export interface TlsFiles {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Files that TLS cannot be served with; the message says which and why. */
export class TlsFilesError extends Error {}

/**
 * Reads and checks both files before anything listens. Node itself accepts a certificate without a key and fails at the
 * first connection only.
 * @throws TlsFilesError for a file that cannot be read, is not PEM, or a key that is not the certificate's
 */
export function readTlsFiles(certPath: string, keyPath: string): TlsFiles {
  const cert = attempt(`cannot read the certificate file ${certPath}`, () => readFileSync(certPath))
  const key = attempt(`cannot read the key file ${keyPath}`, () => readFileSync(keyPath))
  const certificate = attempt(`${certPath} holds no PEM certificate`, () => new X509Certificate(cert))
  const privateKey = attempt(`${keyPath} holds no PEM private key without a passphrase`, () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TlsFilesError(`the key in ${keyPath} does not belong to the certificate in ${certPath}`)
  }
  attempt(`${certPath} and ${keyPath} cannot be used together`, () => createSecureContext({ cert, key }))
  return { cert, key }
}

function attempt<T>(complaint: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw new TlsFilesError(`${complaint}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
