import { BlockList, isIP } from 'node:net'
import type { Context } from 'hono'
import type { Settings } from '../../generator/index.ts'

/** Finds out where requests come from. */
export type ClientAddress = (c: Context) => string

/**
 * Trusts `X-Forwarded-For` as far as proxies are trusted: from its end, the first address that is
 * no proxy of ours is the client's; anyone can have written what is before it.
 */
export function clientAddress(
  trustedProxies: readonly string[],
  isBehindSocket = false,
): ClientAddress {
  const trusted = new BlockList()
  for (const network of trustedProxies) {
    const [ip = '', bits] = network.split('/')
    if (bits === undefined) trusted.addAddress(ip, familyOf(ip))
    else trusted.addSubnet(ip, Number(bits), familyOf(ip))
  }
  const isTrusted = (ip: string) => isIP(ip) !== 0 && trusted.check(ip, familyOf(ip))
  return c => {
    let address = plain(peerOf(c))
    // Only a proxy of this machine can open a Unix socket, and it has no address.
    if (!isBehindSocket && !isTrusted(address)) return address
    const hops = (c.req.header('x-forwarded-for') ?? '').split(',')
    for (const hop of hops.reverse()) {
      const ip = plain(withoutPort(hop.trim()))
      // A proxy of ours reports an address; where it does not, nobody before it can be told apart.
      if (isIP(ip) === 0) break
      address = ip
      if (!isTrusted(ip)) break
    }
    return address
  }
}

/** The client addresses of a daemon with these settings. */
export function addressOf(server: Settings['server']): ClientAddress {
  return clientAddress(server.trusted_proxies, server.listen.startsWith('unix:'))
}

/** What limits count as one client: an address, or the /64 of an IPv6 subscriber (RFC 6177). */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length
  const groups = [...front, ...Array<string>(Math.max(0, zeros)).fill('0'), ...back]
  return `${groups
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** The other end of the connection; none for requests made inside the process. */
function peerOf(c: Context): string {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined
  return env?.incoming?.socket?.remoteAddress ?? 'unknown'
}

const familyOf = (ip: string) => (isIP(ip) === 6 ? 'ipv6' : 'ipv4')

/** IPv4 as IPv4, also where the socket speaks both. */
function plain(address: string): string {
  return /^::ffff:([0-9.]+)$/i.exec(address)?.[1] ?? address
}

/** Some proxies write `ip:port` and `[ip]:port`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::[0-9]+)?$/.exec(hop)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(hop)?.[1] ?? hop
}
