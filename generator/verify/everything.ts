import type { Registry } from '../registry.ts'
import { type Finding, type VerifyOptions, verify } from '../verify.ts'
import { verifyDatabase } from './database.ts'
import { verifyGit } from './git.ts'
import { verifyPages } from './pages.ts'

/**
 * Everything against everything: the database in itself, catalog, crate store, public tree, pages, git index. In this
 * order, so that each repair builds on what has been mended before.
 */
export async function* verifyEverything(registry: Registry, options: VerifyOptions): AsyncIterable<Finding> {
  yield* verifyDatabase(registry.database, options.repair)
  yield* verify(registry, options)
  yield* verifyPages(registry, options)
  yield* verifyGit(registry, options)
}
