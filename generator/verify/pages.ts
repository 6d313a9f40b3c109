import type { Output } from '../../core/output.ts'
import { SITEMAP_CRATES } from '../../core/paths/pages.ts'
import { SEARCH_BLOCK_CRATES } from '../../core/search/buckets.ts'
import { type PageContext, pageTurn } from '../pages/context.ts'
import { cratePages, releasePages } from '../pages/crate.ts'
import { listOutputs } from '../pages/list.ts'
import { blockOutputs, bucketOutput, commonOutputs } from '../pages/search.ts'
import { sitemapPartOutputs, sitePages } from '../pages/site.ts'
import { type CrateRecord, eachCrate, registryCounts } from '../store/catalog/crates.ts'
import { isMarked, type Mark } from '../store/catalog/marks.ts'
import { rangesOf } from '../store/catalog/pages/id-ranges.ts'
import { crateCount } from '../store/catalog/pages/prefixes.ts'
import { listReleases } from '../store/catalog/releases.ts'
import {
  commonRanges,
  commonSubject,
  readLayout,
  searchMarksOf,
} from '../store/catalog/search/search-files.ts'
import { SITE } from '../store/database/mark-kinds.ts'
import { type Finding, findingsAbout, type VerifyOptions } from './finding.ts'

/**
 * Compares the pages of the public tree with the catalog, byte for byte. Source pages are left out:
 * they never change, and rendering them would take longer than everything else.
 */
export async function* verifyPages(
  context: PageContext,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  const { crates: total } = await registryCounts(context.database)
  let done = 0
  for await (const crate of eachCrate(context.database)) {
    yield* findingsAbout(crate.name, () => verifyCratePages(context, options, crate))
    done++
    options.progress?.(done, total)
  }
  const site: Mark = { kind: 'site', subject: SITE, generation: 0 }
  yield* findingsAbout('index.html', () =>
    verifyOutputs(context, options, site, () => sitePages(context)),
  )
  yield* findingsAbout('search', () => verifySearch(context, options))
  yield* findingsAbout('crates/index.html', () => verifyList(context, options, site))
}

async function* verifyCratePages(
  context: PageContext,
  options: VerifyOptions,
  crate: CrateRecord,
): AsyncIterable<Finding> {
  yield* await verifyOutputs(context, options, markOf('page', crate), () =>
    cratePages(context, crate.id),
  )
  for (const { id } of await listReleases(context.database, crate.id)) {
    const mark: Mark = { ...markOf('release', crate), subject: id }
    yield* await verifyOutputs(context, options, mark, () => releasePages(context, id))
  }
}

async function* verifyList(
  context: PageContext,
  options: VerifyOptions,
  site: Mark,
): AsyncIterable<Finding> {
  const listed = await crateCount(context.database)
  if (listed === 0) return
  // Whatever changes the list changes the site, too, but is done with it earlier.
  for await (const output of listOutputs(context, '', listed)) {
    yield* await verifyOutputs(context, options, site, async () => [output])
  }
}

/** What is made of many crates by their ids and terms. */
async function* verifySearch(context: PageContext, options: VerifyOptions): AsyncIterable<Finding> {
  const { database } = context
  for (const part of await rangesOf(database, SITEMAP_CRATES)) {
    const mark: Mark = { kind: 'map', subject: part, generation: 0 }
    yield* await verifyOutputs(context, options, mark, () => sitemapPartOutputs(context, part))
  }
  for (const block of await rangesOf(database, SEARCH_BLOCK_CRATES)) {
    const mark: Mark = { kind: 'entry', subject: block, generation: 0 }
    yield* await verifyOutputs(context, options, mark, () => blockOutputs(context, block))
  }
  for (const { hash, range } of await commonRanges(database)) {
    const subject = commonSubject(hash, range)
    const mark: Mark = { kind: 'common', subject, generation: 0 }
    yield* await verifyOutputs(context, options, mark, () => commonOutputs(context, subject))
  }
  const { now } = await readLayout(database)
  for (let bucket = 0; now !== null && bucket < 2 ** now; bucket++) {
    const pending = async () => (await searchMarksOf(database, now, bucket)).length > 0
    yield* await verifyOutputs(context, options, pending, async () => [
      await bucketOutput(context, now, bucket),
    ])
  }
}

function markOf(kind: Mark['kind'], { id, generation }: CrateRecord): Mark {
  return { kind, subject: id, generation }
}

async function verifyOutputs(
  context: PageContext,
  options: VerifyOptions,
  pending: Mark | (() => Promise<boolean>),
  render: () => Promise<Output[]>,
): Promise<Finding[]> {
  const isPending =
    typeof pending === 'function' ? pending : () => isMarked(context.database, pending)
  return pageTurn(context, async tree => {
    const findings: Finding[] = []
    for (const output of await render()) {
      const present = await context.tree.read(output.path)
      if (present?.equals(output.bytes)) continue
      // Checked after the comparison: a change during it has left its mark by now.
      if (options.served && (await isPending())) return []
      if (options.repair) await tree.write(output)
      const what = present ? 'the page differs from the catalog' : 'the page is missing'
      findings.push({ where: output.path, what, lost: false, repaired: options.repair })
    }
    return findings
  })
}
