import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Makes a self-signed certificate for 127.0.0.1, in a folder; `how` are more options of `openssl req -x509`. Needs the `openssl` executable. */
export function makeCertificate(
  folder: string,
  name = '127.0.0.1',
  ...how: readonly string[]
): { readonly cert: string; readonly key: string } {
  const pair = { cert: join(folder, `${name}.cert.pem`), key: join(folder, `${name}.key.pem`) }
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  const alternative = how.includes('-addext') ? [] : ['-addext', 'subjectAltName=IP:127.0.0.1']
  const subject = ['-subj', `/CN=${name}`, ...alternative]
  const files = ['-keyout', pair.key, '-out', pair.cert]
  const args = [
    'req',
    '-x509',
    ...curve,
    '-nodes',
    ...(how.includes('-not_after') ? [] : ['-days', '2']),
    ...how,
    ...subject,
    ...files,
  ]
  execFileSync('openssl', args, { stdio: 'pipe' })
  return pair
}
