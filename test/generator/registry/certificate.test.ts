import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { readTls, watchTls } from '../../../generator/registry/certificate.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { folderOf } from '../../support/workplace.ts'

test('a reload takes no certificate with a bad chain, and none that is not for servers', async t => {
  const folder = folderOf(t)
  const make = (name: string, by: ReturnType<typeof makeCertificate> | null, ...how: string[]) =>
    makeCertificate(folder, name, ...(by ? ['-CA', by.cert, '-CAkey', by.key] : []), ...how)
  const root = make('root', null, '-days', '9')
  const [good, short] = [make('good', root, '-days', '8'), make('short', root, '-days', '1')]
  const chain = (name: string, by: typeof root, behind: string) => {
    const own = make(name, by, '-days', '5')
    writeFileSync(own.cert, readFileSync(own.cert, 'utf8') + behind)
    return own
  }
  const pem = (of: typeof root) => readFileSync(of.cert, 'utf8')
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const put = (pair: typeof files) => {
    copyFileSync(pair.cert, files.cert)
    copyFileSync(pair.key, files.key)
  }
  const first = chain('first', good, pem(good))
  put(first)
  const [said, shown, renewed]: [string[], string[], Date[]] = [[], [], []]
  const server = {
    setSecureContext(options: SecureContextOptions) {
      createSecureContext(options)
      shown.push(new X509Certificate(String(options.cert)).subject)
    },
  }
  const watch = watchTls(files, server, readTls(files), {
    renewalCheck: 1_000_000,
    onTlsFailure: refusal => said.push(refusal.message),
    onTlsRenewed: until => renewed.push(until),
  })
  t.after(() => watch.stop())
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * 86_400_000 })
  const client = ['-addext', 'extendedKeyUsage=clientAuth', '-days', '5']
  const bad: [pair: typeof root, message: RegExp][] = [
    [chain('over', short, pem(short)), /^the certificate of an issuer in .* expired on /],
    [chain('cut', good, pem(good).slice(0, 300)), /does not contain certificates for a server/],
    [chain('odd', good, pem(good).replace(/\n[^-]*\n/, '\nAAAA\n')), /certificates for a server/],
    [make('client', good, ...client), /is not for servers/],
    [
      make('alone', good, '-days', '5'),
      /ends without the certificate of the issuer, CN=good, which/,
    ],
    [
      make('moved', make('other', root, '-days', '8'), '-days', '5'),
      /ends without .* CN=other, .* \(`fullchain\.pem`\)/,
    ],
  ]
  for (const [pair, message] of bad) {
    put(pair)
    watch.renew()
    assert.match(String(said.at(-1)), message)
  }
  assert.deepEqual([shown, said.length], [[], bad.length])
  // The roots are the client's: it is not asked for the one that has come with the chain.
  const second = chain('second', good, pem(good) + pem(root))
  put(second)
  watch.renew()
  assert.deepEqual(shown, ['CN=second'])
  assert.deepEqual(renewed, [new Date(new X509Certificate(readFileSync(second.cert)).validTo)])
  // A root that clients have needs no issuer between.
  put(make('direct', root, '-days', '5'))
  watch.renew()
  assert.deepEqual(shown, ['CN=second', 'CN=direct'])
})
