import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressRule } from '../../../generator/images/address.ts'

const FORBIDDEN = `0.0.0.0 10.1.2.3 100.64.0.1 100.127.255.255 127.0.0.1 127.9.9.9 169.254.169.254
  172.16.0.1 172.31.255.255 192.0.0.1 192.168.1.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255
  :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:a9fe:a9fe ::7f00:1 64:ff9b::8.8.8.8
  64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%lo fec0::1 ff02::1
  2001::1 2001:db8::1 2002:7f00:1:: 2002:a9fe:a9fe::1 3fff::1 4000::1 localhost 1.2.3`

const PUBLIC = `1.1.1.1 8.8.8.8 99.255.255.255 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1
  192.169.0.1 223.255.255.254 2606:4700::1111 2a00:1450::1 2620:0:2d0::1`

test('only public addresses are public', () => {
  const rule = addressRule([])
  const found = (text: string, kind: string) => text.split(/\s+/).filter(one => rule(one) !== kind)
  assert.deepEqual(found(FORBIDDEN, 'forbidden'), [])
  assert.deepEqual(found(PUBLIC, 'public'), [])
})

test('the networks of the operator are allowed, and nothing next to them', () => {
  const rule = addressRule(['10.1.0.0/16', '192.168.1.1', 'fd00::/8'])
  for (const one of ['10.1.2.3', '192.168.1.1', 'fd12::1']) assert.equal(rule(one), 'allowed', one)
  for (const one of ['10.2.0.1', '192.168.1.2', 'fc00::1', '127.0.0.1'])
    assert.equal(rule(one), 'forbidden', one)
})
