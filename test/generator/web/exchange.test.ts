// Mirrors generator/web/web.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { WebFailure } from '../../../generator/web/failure.ts'
import { newWeb, serveTls, serveWeb } from '../../support/web-server.ts'

const LIMITS = { max: 1000, timeoutMs: 60_000 }

async function fails(asked: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await asked.catch((thrown: unknown) => thrown)
  assert.ok(error instanceof WebFailure, String(error))
  assert.match(error.message, message)
}

test('a request has its method, headers and body, and any status is an answer', async t => {
  const seen: unknown[] = []
  const url = await serveWeb(t, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    seen.push([request.method, request.url, request.headers['x-kind'], body])
    response.writeHead(418).end('no')
  })
  const web = newWeb(t, [url])
  const sent = { method: 'POST', headers: { 'x-kind': 'a' }, body: '{"a":1}' } as const
  const { status, bytes } = await web.exchange(`${url}/a?b=c`, { ...LIMITS, ...sent })
  assert.deepEqual([status, bytes.toString()], [418, 'no'])
  assert.deepEqual(seen, [['POST', '/a?b=c', 'a', '{"a":1}']])
})

test('an answer is bounded in bytes and time, also a compressed one, and no redirect is followed', async t => {
  const url = await serveWeb(t, (request, response) => {
    if (request.url === '/endless') {
      const more = () => {
        while (response.write('x'.repeat(65_536)));
      }
      response.on('drain', more)
      return more()
    }
    if (request.url === '/bomb')
      return void response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(10_000_000)))
    if (request.url === '/moved')
      return void response.writeHead(302, { location: `${url}/else` }).end()
    assert.equal(request.url, '/silent')
  })
  const web = newWeb(t, [url])
  await fails(web.exchange(`${url}/endless`, LIMITS), /^it is larger than the limit of 1000 bytes$/)
  await fails(web.exchange(`${url}/bomb`, LIMITS), /^it is larger than the limit of 1000 bytes$/)
  await fails(
    web.exchange(`${url}/silent`, { ...LIMITS, timeoutMs: 20 }),
    /does not respond|takes too long/,
  )
  assert.equal((await web.exchange(`${url}/moved`, LIMITS)).status, 302)
})

test('a pause that a server asks for is a number of seconds or a date, and nothing else', async t => {
  let pause = ''
  const url = await serveWeb(t, (_, response) =>
    response.writeHead(503, { 'retry-after': pause }).end(),
  )
  const web = newWeb(t, [url])
  const after = async (text: string) => {
    pause = text
    return (await web.send(url, { method: 'POST', timeoutMs: 60_000 })).after
  }
  assert.deepEqual([await after('0'), await after('120')], [0, 120_000])
  assert.equal(await after('Thu, 01 Jan 1970 00:00:00 GMT'), 0)
  assert.ok(((await after('Fri, 31 Dec 2199 23:59:59 GMT')) ?? 0) > 86_400_000)
  assert.equal(await after('9'.repeat(400)), Infinity)
  for (const text of ['-5', '1.5', 'soon', 'in 3000', '5 minutes', '2199-01-01', '', '1e9'])
    assert.equal(await after(text), null, text)
})

test('only https, unless to this machine, and only with a certificate that is trusted', async t => {
  const { url, caFile } = await serveTls(t, (_, response) => void response.end('safe'))
  const good = newWeb(t, [url], { caFile })
  assert.equal((await good.exchange(url, LIMITS)).bytes.toString(), 'safe')
  await fails(newWeb(t, [url]).exchange(url, LIMITS), /certificate/)
  await fails(good.exchange('http://crates.example/', LIMITS), /^it is not encrypted/)
  await fails(good.exchange('ftp://crates.example/', LIMITS), /not a URL/)
})

test('a private address is asked only where its host was named, that of a cloud never', async t => {
  const url = await serveWeb(t, (_, response) => void response.end('here'))
  await fails(newWeb(t, []).exchange(url, LIMITS), /is private/)
  const never = ['169.254.169.254', '[fe80::1]', '[fd00:ec2::254]', '100.100.100.200']
  const hosts = [...never, '168.63.129.16', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]']
  for (const host of hosts) {
    const address = `https://${host}/latest/`
    await fails(newWeb(t, [address]).exchange(address, LIMITS), /link-local, or that of a cloud/)
    await fails(newWeb(t, [address]).ask(address, LIMITS), /link-local, or that of a cloud/)
  }
})
