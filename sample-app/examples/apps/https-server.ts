import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type ServerOptions } from 'node:https'

/** A server with a certificate and a key, in PEM files. @throws Error that names them */
export function createServerWithTls(cert: string, key: string, options: ServerOptions) {
  try {
    const pem = { cert: readFileSync(cert), key: readFileSync(key) }
    // Node itself takes a key of another kind than the certificate's, and then no connection.
    const fits = new X509Certificate(pem.cert).checkPrivateKey(createPrivateKey(pem.key))
    if (!fits) throw new Error('key values mismatch')
    return createServer({ ...options, ...pem })
  } catch (error) {
    throw new Error(`cannot serve TLS with ${cert} and ${key}: ${Object(error).message}`)
  }
}
