import type { Registry } from '../registry.ts'
import { verifyDatabase } from './database.ts'
import { verifyGit } from './git.ts'
import { verifyPages } from './pages.ts'
import { type Finding, type VerifyOptions, verify } from './verify.ts'

/**
 * Everything against everything: the database in itself, catalog, crate store, public tree, pages, git index. In this
 * order, so that each repair builds on what has been mended before; beside a damaged database nothing is repaired.
 */
export async function* verifyEverything(
  registry: Registry,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  let isWhole = true
  for await (const finding of verifyDatabase(registry.database, options.repair)) {
    if (!finding.repaired) isWhole = false
    yield finding
  }
  // Records that cannot be trusted may not know of a file any more that is the only one left.
  const rest = { ...options, repair: options.repair && isWhole }
  const room = rest.repair ? { ...registry, tree: registry.tree.clearing() } : registry
  yield* verify(room, rest)
  yield* verifyPages(room, rest)
  yield* verifyGit(registry, rest)
}
