import { isPageMark } from '../catalog/page-marks.ts'
import { prefixCounts } from '../catalog/prefixes.ts'
import type { CrateRecord, Mark } from '../catalog/record.ts'
import { SITE } from '../database.ts'
import { cratePages, listOutputs, type PageShop, releasePages, sitePages } from '../pages.ts'
import type { Output } from '../paths.ts'
import type { Finding, VerifyOptions } from '../verify.ts'

/**
 * Holds the pages of the public tree against the catalog, byte for byte; yields what differs. The pages of sources are
 * left out: they never change, and making them all again would take longer than everything else.
 */
export async function* verifyPages(shop: PageShop, options: VerifyOptions): AsyncIterable<Finding> {
  const { crates: total } = await shop.catalog.counts()
  let done = 0
  for await (const crate of shop.catalog.crates()) {
    yield* await verifyOutputs(shop, options, markOf('page', crate), () => cratePages(shop, crate.id))
    for (const { id } of await shop.catalog.releases(crate.id)) {
      const mark: Mark = { ...markOf('release', crate), subject: id }
      yield* await verifyOutputs(shop, options, mark, () => releasePages(shop, id))
    }
    done++
    options.progress?.(done, total)
  }
  const site: Mark = { kind: 'site', subject: SITE, generation: 0 }
  yield* await verifyOutputs(shop, options, site, () => sitePages(shop))
  const listed = (await prefixCounts(shop.database, [''])).get('') ?? 0
  if (listed === 0) return
  // Whatever changes the list changes the site, too, but is done with it earlier.
  for await (const output of listOutputs(shop, '', listed)) {
    yield* await verifyOutputs(shop, options, site, async () => [output])
  }
}

function markOf(kind: Mark['kind'], { id, generation }: CrateRecord): Mark {
  return { kind, subject: id, generation }
}

async function verifyOutputs(
  shop: PageShop,
  options: VerifyOptions,
  mark: Mark,
  render: () => Promise<Output[]>,
): Promise<Finding[]> {
  return shop.pageTurnstile.run(async () => {
    const findings: Finding[] = []
    for (const output of await render()) {
      const present = await shop.tree.read(output.path)
      if (present?.equals(output.bytes)) continue
      // Looked at after the difference: a change that came while this was reading has left its mark by now.
      if (options.served && (await isPageMark(shop.database, mark))) return []
      if (options.repair) await shop.tree.write(output)
      const what = present ? 'the page differs from the catalog' : 'the page is missing'
      findings.push({ where: output.path, what, lost: false, repaired: options.repair })
    }
    return findings
  })
}
