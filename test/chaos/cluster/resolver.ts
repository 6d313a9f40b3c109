/**
 * Loaded into a daemon: the name of the S3 server has another address for each of them, as their
 * endpoints have to be the same.
 */
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

/** The name of the S3 server. */
export const S3_HOST = 's3.test'

const address = process.env.CHAOS_S3_ADDRESS
const lookup = dns.lookup
type Callback = (error: Error | null, address: unknown, family?: number) => void

if (address !== undefined) {
  const find = (host: string, options: { all?: boolean }, callback: Callback): void => {
    if (host !== S3_HOST) lookup(host, options, callback)
    else if (options.all) callback(null, [{ address, family: 4 }])
    else callback(null, address, 4)
  }
  dns.lookup = find as typeof dns.lookup
  syncBuiltinESMExports()
}
