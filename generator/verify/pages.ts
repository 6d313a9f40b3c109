import type { Output } from '../../core/paths/tree.ts'
import { isRenderedHere } from '../pages/claim.ts'
import { type PageContext, pageTurn } from '../projections/context.ts'
import { type Part, projectionsOf } from '../projections/projection.ts'
import { crateRecords } from '../records/crates.ts'
import { isMarked } from '../records/marks.ts'
import {
  derivable,
  type Finding,
  findingsAbout,
  unlessPending,
  type VerifyOptions,
} from './finding.ts'

/** Compares the pages of the public tree with the records byte for byte. */
export async function* verifyPages(
  context: PageContext,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  const differs = (await isRenderedHere(context))
    ? 'the page differs from the records'
    : 'rendered with other settings or by another version; run `plimsoll build`'
  const total = await crateRecords(context.database)
  for (const { kind, parts } of projectionsOf(context)) {
    let done = 0
    if (kind !== 'page') options.progress?.('verifying lists and search', 0, 0)
    for await (const part of parts(context)) {
      yield* findingsAbout(part.about, () => verifyPart(context, options, part, differs))
      if (kind === 'page') options.progress?.('verifying pages', ++done, total)
    }
  }
}

async function verifyPart(
  context: PageContext,
  options: VerifyOptions,
  { pending, render }: Part,
  differs: string,
): Promise<Finding[]> {
  const isPending =
    typeof pending === 'function' ? pending : () => isMarked(context.database, pending)
  return pageTurn(context, async tree => {
    const findings: Finding[] = []
    const differing: Output[] = []
    for (const output of await render()) {
      const present = await context.tree.read(output.path)
      if (present?.equals(output.bytes)) continue
      differing.push(output)
      findings.push(
        derivable(output.path, present ? differs : 'the page is missing', options.repair),
      )
    }
    if (differing.length === 0) return []
    // Asked after the comparison: a change during it has set its mark by now.
    const isWaiting = await isPending()
    if (options.repair && !(isWaiting && options.served))
      for (const output of differing) await tree.write(output)
    return unlessPending(findings, isWaiting, options)
  })
}
