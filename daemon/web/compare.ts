import type { Context } from 'hono'
import { LRUCache } from 'lru-cache'
import {
  type CrateRecord,
  compareReleases,
  compareVersions,
  findCrate,
  findRelease,
  isVersion,
  listReleases,
  Refusal,
  type Registry,
  type ReleaseRecord,
  refuse,
} from '../../generator/index.ts'
import { wantsPage } from '../access/access-guard.ts'
import { crateOf, type OpenHandler } from '../access/route.ts'
import { isKnown } from '../http/answer.ts'
import { addressGroup, addressOf } from '../http/client-address.ts'
import { pageHeaders, redirect, refusedPage } from '../http/page.ts'
import { Slots } from '../http/slots.ts'

/** Memory for pages that were asked for before, in characters. */
const REMEMBERED = 16 * 1024 ** 2

/** The most comparisons that wait for their turn. */
const WAITING_MAX = 16

/**
 * `GET /crates/{name}/compare/{from}...{to}`: what differs between two versions. One page is made at
 * a time, because others need the threads, too; too many that wait are refused.
 */
export function comparison(registry: Registry): OpenHandler {
  const pages = new LRUCache<string, string>({
    maxSize: REMEMBERED,
    sizeCalculation: text => text.length + 1,
  })
  const running = new Map<string, Promise<string | null>>()
  const clientOf = addressOf(registry.settings.server)
  const slots = new Slots({ running: 1, waiting: WAITING_MAX, busy: 'server_busy' })
  return forPeople(registry, async c => {
    const crate = await crateOf(registry, c, findCrate)
    const [from = '', to = ''] = (c.req.param('pair') ?? '').split('...')
    const before = await releaseOf(registry, crate, from)
    const after = await releaseOf(registry, crate, to)
    const spelled = [crate.name, before.version, after.version]
    if (`${spelled}` !== `${[c.req.param('name'), from, to]}`)
      return redirect(c, registry.site, pathOf(crate, before, after))
    const { tag, render } = await compareReleases(registry, crate, before, after)
    const headers = headersOf(registry, tag)
    if (isKnown(c.req.header('if-none-match'), tag)) return c.body(null, 304, headers)
    const known = pages.get(tag)
    if (known !== undefined) return c.html(known, 200, headers)
    let job = running.get(tag)
    if (!job) {
      // Without the client's signal: others may wait for the same page.
      job = slots.run(addressGroup(clientOf(c)), render).finally(() => running.delete(tag))
      running.set(tag, job)
    }
    const page = await job
    if (page === null) return refuse('route_unknown')
    pages.set(tag, page)
    return c.html(page, 200, headers)
  })
}

/** `GET /crates/{name}/compare/`: the answer to the form, or to a link without a choice. */
export function comparisonForm(registry: Registry): OpenHandler {
  return forPeople(registry, async c => {
    const crate = await crateOf(registry, c, findCrate)
    const [from, to] = [c.req.query('from')?.trim(), c.req.query('to')?.trim()]
    if (from !== undefined && to !== undefined) {
      const [before, after] = [
        await releaseOf(registry, crate, from),
        await releaseOf(registry, crate, to),
      ]
      return redirect(c, registry.site, pathOf(crate, before, after))
    }
    const [newest, previous] = (await listReleases(registry.database, crate.id)).sort((a, b) =>
      compareVersions(b.version, a.version),
    )
    if (!newest || !previous) return redirect(c, registry.site, `/crates/${crate.name}/`)
    return redirect(c, registry.site, pathOf(crate, previous, newest))
  })
}

/** Shows refusals on a page where a browser asks, because a person reads them. */
function forPeople(registry: Registry, handle: (c: Context) => Promise<Response>): OpenHandler {
  return c =>
    handle(c).catch(error => {
      if (!(error instanceof Refusal) || !wantsPage(c)) throw error
      return refusedPage(c, registry.site, error, null)
    })
}

async function releaseOf(
  { database }: Registry,
  { id, name }: CrateRecord,
  version: string,
): Promise<ReleaseRecord> {
  const found = isVersion(version) ? await findRelease(database, id, version) : null
  return found ?? refuse('release_unknown', { name, version })
}

function pathOf({ name }: CrateRecord, before: ReleaseRecord, after: ReleaseRecord): string {
  return `/crates/${name}/compare/${before.version}...${after.version}`
}

function headersOf({ site }: Registry, tag: string): Record<string, string> {
  return {
    ...pageHeaders(site),
    etag: `"${tag}"`,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  }
}
