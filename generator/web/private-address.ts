import { BlockList, isIP } from 'node:net'

/** Special-purpose networks of IPv4, as IANA registers them (RFC 6890), and multicast. */
const IPV4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 ' +
  '192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 ' +
  '224.0.0.0/3'

/** The same of IPv6, Teredo and 6to4 included, which lead to an IPv4 address of any kind. */
const IPV6 =
  '::/96 64:ff9b:1::/48 100::/8 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/6'

/** What IPv4 addresses follow in IPv6 where something translates them (RFC 6052, 8215, 2765). */
const TRANSLATED = ['64:ff9b::', '64:ff9b:1::', '::', '::ffff:0:']

const networks = listOf(IPV6, IPV4)

/** Where clouds tell a machine its secrets, and nothing else is: link-local, and some addresses. */
const never = listOf(
  'fe80::/10 fd00:ec2::254/128 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128 2002:a9fe::/32',
  '169.254.0.0/16 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32',
)

function listOf(ipv6: string, ipv4: string): BlockList {
  const list = new BlockList()
  for (const [network, bits] of subnets(ipv6)) list.addSubnet(network, bits, 'ipv6')
  for (const [network, bits] of subnets(ipv4)) {
    // Its check of IPv6 includes mapped addresses.
    list.addSubnet(network, bits, 'ipv4')
    for (const before of TRANSLATED) list.addSubnet(`${before}${network}`, 96 + bits, 'ipv6')
  }
  return list
}

function subnets(text: string): [network: string, bits: number][] {
  return text.split(' ').map(subnet => {
    const [network = '', bits] = subnet.split('/')
    return [network, Number(bits)]
  })
}

/**
 * Returns whether an IP address, without brackets, is none of the public internet: private,
 * loopback, link-local (with the metadata of clouds), unique local, shared, multicast or reserved.
 * False for a name.
 */
export function isPrivateAddress(address: string): boolean {
  return isIn(networks, address)
}

/** Returns whether nobody is asked at an IP address, whoever has named its host. */
export function isForbiddenAddress(address: string): boolean {
  return isIn(never, address)
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address)
  if (family === 0) return false
  // A zone, as in `fe80::1%eth0`, does not change the kind of an address.
  return list.check(address.replace(/%.*$/, ''), family === 6 ? 'ipv6' : 'ipv4')
}

/** A host that nobody has named and that has a private address, or one that nobody may ask. */
export class PrivateAddress extends Error {
  readonly address: string

  constructor(host: string, address: string, isNamed: boolean) {
    super(
      isNamed
        ? `the address of ${host} (${address}) is link-local, or that of a cloud's metadata`
        : `the address of ${host} is private (${address}), and only hosts that were named may have one`,
    )
    this.address = address
  }
}
