import { isPageMark } from '../catalog/page-marks.ts'
import type { Mark } from '../catalog/record.ts'
import { SITE } from '../database.ts'
import { cratePages, type PageShop, sitePages } from '../pages.ts'
import type { Output } from '../paths.ts'
import type { Finding, VerifyOptions } from '../verify.ts'

/** Holds the pages of the public tree against the catalog, byte for byte; yields what differs. */
export async function* verifyPages(shop: PageShop, options: VerifyOptions): AsyncIterable<Finding> {
  const { crates: total } = await shop.catalog.counts()
  let done = 0
  for await (const crate of shop.catalog.crates()) {
    const mark: Mark = { kind: 'page', subject: crate.id, generation: crate.generation }
    yield* await verifyOutputs(shop, options, mark, () => cratePages(shop, crate.id))
    done++
    options.progress?.(done, total)
  }
  yield* await verifyOutputs(shop, options, { kind: 'site', subject: SITE, generation: 0 }, () => sitePages(shop))
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
