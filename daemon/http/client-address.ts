import { BlockList, isIP } from 'node:net'
import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import type { Settings } from '../../core/settings/settings.ts'

export type ClientAddress = (c: Context) => string

/**
 * Trusts `X-Forwarded-For` only from trusted proxies. The client is the last address in it that is
 * not a trusted proxy; the entries before may be forged.
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
    // Only a proxy on this machine can connect to a Unix socket, and it has no address.
    let address = isBehindSocket ? 'unknown' : plain(peerOf(c))
    if (!isBehindSocket && !isTrusted(address)) return address
    const hops = (c.req.header('x-forwarded-for') ?? '').split(',')
    for (const hop of hops.reverse()) {
      const ip = plain(withoutPort(hop.trim()))
      // A trusted proxy reports an address. If it does not, clients behind it look the same.
      if (isIP(ip) === 0) break
      address = ip
      if (!isTrusted(ip)) break
    }
    return address
  }
}

/** Returns the function that finds client addresses under these settings. */
export function addressOf(server: Settings['server']): ClientAddress {
  return clientAddress(server.trusted_proxies, server.listen.startsWith('unix:'))
}

/** Returns the group that limits count as one client: an address, or an IPv6 /64 (RFC 6177). */
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

/** The peers of requests, since Node forgets that of a closed connection. */
const peers = new WeakMap<object, string>()

/**
 * Returns the remote address of the connection; `unknown` for requests inside the process. Refuses
 * a request whose client left before the first call: nobody may change anything from nowhere.
 */
function peerOf(c: Context): string {
  const env = c.env as { incoming?: { socket: { remoteAddress?: string } } } | undefined
  if (!env?.incoming) return 'unknown'
  const { incoming } = env
  const peer = peers.get(incoming) ?? incoming.socket.remoteAddress ?? refuse('body_lost')
  peers.set(incoming, peer)
  return peer
}

const familyOf = (ip: string) => (isIP(ip) === 6 ? 'ipv6' : 'ipv4')

/** Returns an IPv4-mapped IPv6 address as IPv4: sockets for both report it that way. */
function plain(address: string): string {
  return /^::ffff:([0-9.]+)$/i.exec(address)?.[1] ?? address
}

/** Removes the port: some proxies write `ip:port` or `[ip]:port`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::[0-9]+)?$/.exec(hop)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(hop)?.[1] ?? hop
}
