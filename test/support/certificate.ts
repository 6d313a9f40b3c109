import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Makes a self-signed certificate for 127.0.0.1, in a folder. Needs the `openssl` executable. */
export function makeCertificate(
  folder: string,
  name = '127.0.0.1',
): { readonly cert: string; readonly key: string } {
  const pair = { cert: join(folder, `${name}.cert.pem`), key: join(folder, `${name}.key.pem`) }
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
  const files = ['-keyout', pair.key, '-out', pair.cert]
  const args = ['req', '-x509', ...curve, '-nodes', '-days', '2', ...subject, ...files]
  execFileSync('openssl', args, { stdio: 'pipe' })
  return pair
}
