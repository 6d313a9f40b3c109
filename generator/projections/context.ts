import type { RegistryUrls } from '../../core/urls/urls.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { PLIMSOLL_SCHEMA, type SchemaOwner } from '../database/migrations.ts'
import type { CrateStore } from '../places/crate-store.ts'
import type { ProcessMutex } from '../places/locks/process-mutex.ts'
import type { PublicTree } from '../places/public-tree.ts'
import type { Records } from '../records/crate-change.ts'

/** Raise it when the same records render to different pages; an upgrade then rerenders them. */
export const PAGE_FORMAT = '30'

/** A program among those of several versions that use one registry. */
export interface Program extends SchemaOwner {
  /** Another one for other pages of the same records. */
  readonly pageFormat: string
}

/** This program. */
export const PLIMSOLL: Program = { ...PLIMSOLL_SCHEMA, pageFormat: PAGE_FORMAT }

/**
 * Called during long work with what is being done, such as `rendering pages`, and how far it is.
 * A `total` of 0 is unknown. `share` of the work is done, where some of it takes longer.
 */
export type Progress = (step: string, done: number, total: number, share?: number) => void

/** The stores of a build, and the mutex that every writer of the tree takes. */
export interface BuildContext extends Records {
  readonly crates: Pick<CrateStore, 'isLocal' | 'path' | 'size'>
  readonly tree: PublicTree
  readonly mutex: ProcessMutex
  readonly urls: RegistryUrls
  readonly authRequired: boolean
  /** Whether daemons of several machines may write the records, and the tree with them. */
  readonly isShared: boolean
  readonly clock: () => Date
}

/** The context for rendering pages. Pages have their own mutex, so no publish waits for them. */
export interface PageContext extends Omit<BuildContext, 'crates'> {
  readonly crates: Pick<CrateStore, 'localFile'>
  readonly pageMutex: ProcessMutex
  readonly site: SiteConfig
  readonly program: Program
  /** Whether an import is adding crates. */
  readonly isFilling?: boolean
  /** Returns what earlier work with this key returned; a daemon does all work anew. */
  readonly remember?: <T>(key: readonly unknown[], work: () => Promise<T>) => Promise<T>
}

/** The context of a registry with all its stores, as projections have it that publishers wait for. */
export type FullContext = BuildContext & PageContext

/** Runs work whose result depends on nothing but the key, unless it is remembered. */
export function remembered<T>(
  { remember }: PageContext,
  key: readonly unknown[],
  work: () => Promise<T>,
): Promise<T> {
  return remember ? remember(key, work) : work()
}

/** Runs `work` holding the mutex of the pages, then syncs its changes to the tree to disk. */
export function pageTurn<T>(
  context: PageContext,
  work: (tree: PublicTree) => Promise<T>,
): Promise<T> {
  return context.pageMutex.run(() => context.tree.batch(work, context.pageMutex))
}
