import { configPath, type Output, SITEMAP_CRATES } from '../../core/paths/tree.ts'
import { layoutFile } from '../../core/search/render.ts'
import { renderConfig } from '../build/crate.ts'
import { isRenderedHere } from '../pages/claim.ts'
import { type PageContext, pageTurn } from '../pages/context.ts'
import { cratePages, releasePages } from '../pages/crate.ts'
import { missingDownloads } from '../pages/downloads.ts'
import { listOutputs } from '../pages/list.ts'
import { sitemapPartOutputs, sitePages } from '../pages/site.ts'
import { overviewMarks, overviewOutputs } from '../pages/views.ts'
import { filesOf, LAYOUT_MARK, readLayouts, subjectOf } from '../search/layouts.ts'
import { searchOutput } from '../search/render.ts'
import { crateRecords, eachCrate } from '../store/catalog/crates.ts'
import { awaitsFirstDownloads } from '../store/catalog/downloads/due.ts'
import { isMarked, type MarkSubject } from '../store/catalog/marks.ts'
import { rangesOf } from '../store/catalog/pages/id-ranges.ts'
import { listReleases } from '../store/catalog/releases.ts'
import { SITE } from '../store/database/mark-kinds.ts'
import {
  derivable,
  type Finding,
  findingsAbout,
  unlessPending,
  type VerifyOptions,
} from './finding.ts'

const MISSING = 'the page is missing'

/** Pages that are rendered together, and how to tell that they are pending. */
interface Part {
  readonly pending: MarkSubject | (() => Promise<boolean>)
  readonly render: () => Promise<Output[]>
}

/**
 * Compares the pages of the public tree with the catalog byte for byte. Skips source pages: they
 * never change, and rendering them would take longer than everything else.
 */
export async function* verifyPages(
  context: PageContext,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  const differs = await whyDiffers(context)
  const about = (where: string, parts: AsyncIterable<Part>) =>
    findingsAbout(where, () => verifyParts(context, options, parts, differs))
  const total = await crateRecords(context.database)
  let done = 0
  for await (const crate of eachCrate(context.database)) {
    yield* about(crate.name, crateParts(context, crate.id))
    done++
    options.progress?.('verifying pages', done, total)
  }
  options.progress?.('verifying lists and search', 0, 0)
  yield* about('index.html', siteParts(context))
  yield* about('search', searchParts(context))
  yield* about('crates/index.html', listParts(context))
  yield* about('lists', overviewParts(context))
}

async function* crateParts(context: PageContext, crateId: number): AsyncIterable<Part> {
  const pending = dueWithDownloads(context, { kind: 'page', subject: crateId })
  yield { pending, render: () => cratePages(context, crateId) }
  yield { pending, render: () => missingDownloads(context, crateId) }
  for (const { id } of await listReleases(context.database, crateId))
    yield { pending: { kind: 'release', subject: id }, render: () => releasePages(context, id) }
}

const SITE_MARK: MarkSubject = { kind: 'site', subject: SITE }

async function* siteParts(context: PageContext): AsyncIterable<Part> {
  const pending = dueWithDownloads(context, SITE_MARK)
  yield { pending, render: () => sitePages(context) }
  yield { pending, render: () => missingDownloads(context, SITE) }
}

/** Whether pages are due, which the first downloads change, too. */
function dueWithDownloads({ database }: PageContext, page: MarkSubject): () => Promise<boolean> {
  return async () =>
    (await isMarked(database, page)) || (await awaitsFirstDownloads(database, page.subject))
}

async function* listParts(context: PageContext): AsyncIterable<Part> {
  // A change to the list also marks the site, whose mark is cleared later.
  for await (const output of listOutputs(context))
    yield { pending: SITE_MARK, render: async () => [output] }
}

async function* overviewParts(context: PageContext): AsyncIterable<Part> {
  for await (const pending of overviewMarks(context))
    yield { pending, render: () => overviewOutputs(context, pending) }
}

/** Yields the parts that combine many crates by their ids and terms. */
async function* searchParts(context: PageContext): AsyncIterable<Part> {
  const { database } = context
  for (const subject of await rangesOf(database, SITEMAP_CRATES))
    yield { pending: { kind: 'map', subject }, render: () => sitemapPartOutputs(context, subject) }
  const { now } = await readLayouts(database)
  if (now === null) return
  yield { pending: LAYOUT_MARK, render: async () => [layoutFile(now)] }
  for (const file of await filesOf(database, now)) {
    const pending: MarkSubject = { kind: 'search-file', subject: subjectOf(file, now) }
    const render = async () => [await searchOutput(database, file, now)].filter(one => one !== null)
    yield { pending, render }
  }
}

/** Returns why a page differs: all do that were rendered for other settings or by another version. */
async function whyDiffers(context: PageContext): Promise<string> {
  if (await isRenderedHere(context)) return 'the page differs from the catalog'
  const { urls, authRequired } = context
  const shown = addressesIn(await context.tree.read(configPath))
  const isHere = shown === addressesIn(renderConfig(urls, authRequired).bytes)
  const origin = isHere ? 'with other settings or by another version' : 'for another address'
  return `rendered ${origin}; run \`plimsoll build\``
}

/** Returns the text of the addresses in a `config.json`. */
function addressesIn(config: Uint8Array | null): string | undefined {
  return /"dl":"[^"]*"(?:,"api":"[^"]*")?/.exec(String(config))?.[0]
}

async function* verifyParts(
  context: PageContext,
  options: VerifyOptions,
  parts: AsyncIterable<Part>,
  differs: string,
): AsyncIterable<Finding> {
  for await (const { pending, render } of parts) {
    const isPending =
      typeof pending === 'function' ? pending : () => isMarked(context.database, pending)
    yield* await pageTurn(context, async tree => {
      const findings: Finding[] = []
      const differing: Output[] = []
      for (const output of await render()) {
        const present = await context.tree.read(output.path)
        if (present?.equals(output.bytes)) continue
        differing.push(output)
        findings.push(derivable(output.path, present ? differs : MISSING, options.repair))
      }
      if (differing.length === 0) return []
      // Asked after the comparison: a change during it has set its mark by now.
      const isWaiting = await isPending()
      if (options.repair && !(isWaiting && options.served))
        for (const output of differing) await tree.write(output)
      return unlessPending(findings, isWaiting, options)
    })
  }
}
