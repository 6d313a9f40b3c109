import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isForbiddenAddress, isPrivateAddress } from '../../../generator/web/private-address.ts'
import { none } from '../../support/none.ts'

const PRIVATE = [
  ...['0.0.0.0', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1'],
  ...['127.255.255.254', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8'],
  ...['192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.19.255.255', '198.51.100.7'],
  ...['203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::ffff:10.1.2.3'],
  ...['64:ff9b::10.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1', '100::1', '2001::1'],
  ...['2001:db8::1', '2002:7f00:1::', '3fff::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1'],
  ...['fe80::1%eth0', 'fec0::1', 'ff02::1', 'FD00::1', '::ffff:0:10.0.0.1'],
]

const PUBLIC = [
  ...['1.1.1.1', '9.255.255.255', '11.0.0.1', '100.63.255.255', '100.128.0.1', '126.1.1.1'],
  ...['128.0.0.1', '169.253.1.1', '172.15.255.255', '172.32.0.1', '192.0.1.1', '192.167.1.1'],
  ...['198.17.1.1', '198.20.1.1', '223.255.255.255', '::ffff:1.1.1.1', '64:ff9b::1.1.1.1'],
  ...['2606:4700::1111', '2001:4860:4860::8888', '2a04:4e42::649', '2003::1'],
]

test('addresses that only this machine or network has are known in every form', () => {
  none(PRIVATE.filter(address => !isPrivateAddress(address)))
  assert.deepEqual(PUBLIC.filter(isPrivateAddress), [])
  assert.deepEqual(['localhost', '', 'crates.example', '[::1]'].filter(isPrivateAddress), [])
})

test('nobody is asked at link-local addresses and at those of metadata, in every form', () => {
  const forms = ['', '::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::']
  const never = ['169.254.169.254', '169.254.170.23', '100.100.100.200', '168.63.129.16']
  const all = never.flatMap(address => forms.map(form => form + address))
  all.push(
    'fe80::1%2',
    'febf::1',
    '2002:a9fe:a9fe::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '::ffff:a9fe:a9fe',
  )
  none(all.filter(address => !isForbiddenAddress(address)))
  const others = ['169.253.1.1', '100.100.100.201', 'fd00:ec2::253', '10.0.0.1', '127.0.0.1', '::1']
  assert.deepEqual(others.filter(isForbiddenAddress), [])
})
