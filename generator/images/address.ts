import { BlockList, isIP } from 'node:net'

/**
 * Networks that are not the public internet: the special-purpose registries of IANA (RFC 6890),
 * multicast, and addresses that lead to IPv4 in a roundabout way (mapped, 6to4, Teredo, NAT64).
 */
const SPECIAL = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12
  192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16
  192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
  2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20`.split(/\s+/)

/** The only addresses of IPv6 that are public (RFC 4291 §2.4, IANA). */
const GLOBAL_IPV6 = ['2000::/3']

const special = networks(SPECIAL)
const globalIpv6 = networks(GLOBAL_IPV6)

/** Decides which addresses may be connected to. */
export type AddressRule = (address: string) => 'public' | 'allowed' | 'forbidden'

/** Returns the rule that allows public addresses, and those in the operator's networks. */
export function addressRule(own: readonly string[]): AddressRule {
  const allowed = networks(own)
  return address => {
    // An IPv6 zone names an interface of this machine.
    const family = address.includes('%') ? 0 : isIP(address)
    if (family === 0) return 'forbidden'
    const kind = family === 6 ? 'ipv6' : 'ipv4'
    if (allowed.check(address, kind)) return 'allowed'
    if (family === 6 && !globalIpv6.check(address, kind)) return 'forbidden'
    return special.check(address, kind) ? 'forbidden' : 'public'
  }
}

function networks(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const [ip = '', bits] = text.split('/')
    const kind = isIP(ip) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(ip, kind)
    else list.addSubnet(ip, Number(bits), kind)
  }
  return list
}
