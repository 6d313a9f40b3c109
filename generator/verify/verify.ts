// generator/verify: Compares all that a registry has, and repairs it. One command calls it; it
// never repairs unasked.
import type { Registry } from '../registry/registry.ts'
import { verifyCrates } from './crates.ts'
import { verifyDatabase } from './database.ts'
import { type Finding, findingsAbout, type VerifyOptions } from './finding.ts'
import { verifyGit } from './git.ts'
import { verifyPages } from './pages.ts'

/**
 * Checks the database, then records, crate store, and public tree, then pages, then the
 * git index. Each repair relies on those before it; nothing is repaired from a damaged database.
 */
export async function* verify(registry: Registry, options: VerifyOptions): AsyncIterable<Finding> {
  options.progress?.('verifying the database', 0, 0)
  let isSound = true
  for await (const finding of verifyDatabase(registry, options.repair)) {
    if (!finding.repaired) isSound = false
    yield finding
  }
  // Damaged records may lack a crate, whose files are then its only remains.
  const rest = { ...options, repair: options.repair && isSound }
  const context = rest.repair ? { ...registry, tree: registry.tree.clearing() } : registry
  yield* findingsAbout('crates', () => verifyCrates(context, rest))
  yield* findingsAbout('pages', () => verifyPages(context, rest))
  options.progress?.('verifying the git index', 0, 0)
  yield* findingsAbout('index.git', () => verifyGit(registry, rest))
}
