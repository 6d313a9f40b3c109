import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** A self-signed certificate for 127.0.0.1 and its key, as PEM files. Needs the `openssl` executable. */
export function makeCertificate(
  folder: string,
  name: string,
): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)]
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
  const type = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  try {
    execFileSync('openssl', ['req', '-x509', ...type, '-keyout', key, '-out', cert, ...subject], {
      stdio: 'pipe',
    })
  } catch (error) {
    throw new Error('the TLS tests need the openssl executable (Debian: apt-get install openssl)', {
      cause: error,
    })
  }
  return { cert, key }
}
