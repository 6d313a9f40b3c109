// Mirrors docs/run/upstream.md
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { upstreamRows } from '../../core/settings/upstream.ts'
import { cargoIsAtLeast } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { closeServer, listen } from '../support/loopback.ts'
import { none } from '../support/none.ts'
import { blockFor, makeSite, playOneAddress, type StaticSite } from '../support/one-address.ts'
import { root } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'

const skip = cargoIsAtLeast(68) ? false : 'this Cargo reads no sparse index'

/** What a host answers for a path without a file; null for its usual 404. */
type Missing = (path: string) => Promise<{ status: number; location: string | null } | null>

/** Hosts of static files, by the block of the document that they obey. */
const hosts: readonly {
  readonly name: string
  readonly status: number
  readonly missing: (site: StaticSite) => Missing
}[] = [
  { name: 'a host with _redirects', status: 302, missing: redirects },
  { name: 'CloudFront', status: 307, missing: cloudFront },
]

for (const { name, status, missing } of hosts)
  test(`${name} makes a static tree the one address`, { skip }, async t => {
    const cleanup = new Cleanup(t)
    const folder = scratch(cleanup)
    const server = createServer()
    const url = await listen(server)
    cleanup.add(() => closeServer(server))
    const site = await makeSite(cleanup, folder, url)
    const elsewhere = missing(site)
    server.on('request', async ({ url: path = '' }, response) => {
      const file = join(site.tree, path)
      if (existsSync(file) && statSync(file).isFile()) return response.end(readFileSync(file))
      const answer = (await elsewhere(path)) ?? { status: 404, location: null }
      response.writeHead(
        answer.status,
        answer.location === null ? {} : { location: answer.location },
      )
      return response.end()
    })
    await playOneAddress(folder, site, { status, knowsFolders: false })
  })

test('docs/run/upstream.md names every setting of an upstream', () => {
  const text = readFileSync(join(root, 'docs', 'run', 'upstream.md'), 'utf8')
  const isNamed = (key: string) => text.includes(`\`${key}\``) || text.includes(`\`${key} = `)
  none(Object.keys(upstreamRows).filter(key => !isNamed(key)))
})

/** Reads `_redirects` as Netlify does: the first rule that fits decides, for missing files only. */
function redirects(site: StaticSite): Missing {
  const rules = blockFor(site, 'run/upstream.md', 'text')
    .trim()
    .split('\n')
    .map(line => {
      const [from = '', to = '', status] = line.split(/ +/)
      const source = from.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)').replace('*', '(?<splat>.*)')
      return { pattern: new RegExp(`^${source}$`), to, status: Number(status) }
    })
  return async path => {
    for (const { pattern, to, status } of rules) {
      const match = pattern.exec(path)
      if (!match) continue
      const target = to.replace(/:(\w+)/g, (text, key) => match.groups?.[key] ?? text)
      return { status, location: status === 404 ? null : target }
    }
    return null
  }
}

/** Runs the function for the responses of an origin. */
function cloudFront(site: StaticSite): Missing {
  const exports: { handler?: (event: object) => Promise<CloudFrontResponse> } = {}
  runInNewContext(blockFor(site, 'run/upstream.md', 'js'), { exports })
  return async uri => {
    const response = { status: '404', headers: {} }
    const event = { Records: [{ cf: { request: { uri }, response } }] }
    const answer = await exports.handler?.(event)
    assert.ok(answer)
    const location = answer.headers.location?.[0]?.value ?? null
    return { status: Number(answer.status), location }
  }
}

interface CloudFrontResponse {
  readonly status: string
  readonly headers: Readonly<Record<string, readonly { readonly value: string }[]>>
}
