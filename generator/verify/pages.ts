import { isRenderedHere } from '../pages/claim.ts'
import type { PublicTree } from '../places/public-tree.ts'
import type { PageContext } from '../projections/context.ts'
import { type Fault, type Part, type Projection, pagesOf } from '../projections/projection.ts'
import { crateRecords } from '../records/crates.ts'
import { isMarked } from '../records/marks.ts'
import {
  derivable,
  type Finding,
  findingsAbout,
  unlessPending,
  type VerifyOptions,
} from './finding.ts'

/** What is said of files that differ, and of those that are missing. */
type Words = Readonly<Record<'differs' | 'missing', string>>

/** Compares the pages of the public tree with the records byte for byte. */
export async function* verifyPages(
  context: PageContext,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  const differs = (await isRenderedHere(context))
    ? 'the page differs from the records'
    : 'rendered with other settings or by another version; run `plimsoll build`'
  const words = { differs, missing: 'the page is missing' }
  yield* verifyProjections(context, options, pagesOf<PageContext>(context), words)
}

/** Compares the files of projections with the records; `words` are said of those that differ. */
export async function* verifyProjections<Context extends PageContext>(
  context: Context,
  options: VerifyOptions,
  projections: readonly Projection<Context>[],
  words = { differs: 'differs from the records', missing: 'is missing' },
): AsyncIterable<Finding> {
  const crates = await crateRecords(context.database)
  for (const projection of projections) {
    let done = 0
    for await (const part of projection.parts(context)) {
      const verify = () => verifyPart(context, options, projection, part, words)
      yield* findingsAbout(part.about, verify)
      const total = projection.of === 'crate' ? crates : 0
      options.progress?.(`verifying ${projection.work}`, Math.min(++done, total), total)
    }
  }
}

/** Confirms and mends the faults of a part while it holds the mutex: most parts have none. */
async function verifyPart(
  context: PageContext,
  options: VerifyOptions,
  { due }: Pick<Projection<never>, 'due'>,
  part: Part,
  words: Words,
): Promise<Finding[]> {
  const { pending } = part
  const faults = () => faultsOf(context, part, words)
  if ((await faults()).length === 0) return []
  const mutex = due === 'answer' ? context.mutex : context.pageMutex
  return mutex.run(async () => {
    const faultsBefore = await faults()
    // Asked after the comparison: a change during it has set its mark by now.
    const isWaiting =
      typeof pending === 'function' ? await pending() : await isMarked(context.database, pending)
    const mends = options.repair && faultsBefore.length > 0 && !(isWaiting && options.served)
    const paths = new Set(faultsBefore.map(fault => fault.path))
    const write = async (tree: PublicTree) => {
      for (const output of await part.render()) if (paths.has(output.path)) await tree.write(output)
    }
    if (mends) await (part.mend?.() ?? context.tree.batch(write, mutex))
    const left = new Set((mends ? await faults() : faultsBefore).map(fault => fault.path))
    const findings = faultsBefore.map(({ path, what }) =>
      derivable(path, what, options.repair && !left.has(path)),
    )
    return unlessPending(findings, isWaiting, options)
  })
}

async function faultsOf({ tree }: PageContext, part: Part, words: Words): Promise<Fault[]> {
  const faults = [...((await part.faults?.()) ?? [])]
  for (const { path, bytes } of await part.render()) {
    const isSame = await tree.hasBytes(path, bytes)
    const differs = part.differs ?? words.differs
    if (!isSame) faults.push({ path, what: isSame === null ? words.missing : differs })
  }
  return faults
}
