import type { Name } from '../../core/name.ts'
import { crateFolder } from '../../core/paths/crates.ts'
import type { Output } from '../../core/paths/tree.ts'
import { isVersion } from '../../core/version.ts'
import type { Queries } from '../database/statement.ts'
import type { Follower, Records } from '../records/crate-change.ts'
import type { Mark, MarkSubject } from '../records/marks.ts'

/** Files that are rendered together, and how to tell that they are still to be rendered. */
export interface Part {
  /** The file or crate that a failure is about. */
  readonly about: string
  readonly pending: MarkSubject | (() => Promise<boolean>)
  readonly render: () => Promise<readonly Output[]>
  /** What is said of an output that differs. */
  readonly differs?: string
  /** Finds what else differs: files of which there are no outputs. */
  readonly faults?: () => Promise<readonly Fault[]>
  /** Mends all of it as far as that is possible; without it, outputs are written again. */
  readonly mend?: () => Promise<unknown>
}

/** A file of the tree that differs from the records, and how. */
export interface Fault {
  readonly path: string
  readonly what: string
}

/** A file in the folder of a crate. */
export interface CrateFile {
  readonly path: string
  /** The version in whose folder it is, and its path there; null for files of the whole crate. */
  readonly version: string | null
  readonly file: string
  readonly crate: CrateVersions
}

/** A crate with its versions, at least one. */
export interface CrateVersions {
  readonly name: Name
  readonly versions: ReadonlySet<string>
}

/** The result of rendering a mark: the marks that are done, and those to render again. */
export interface Rendered {
  readonly done: readonly Mark[]
  readonly again?: readonly MarkSubject[]
  /** Marks that it has set, to be rendered in the same batch. */
  readonly next?: readonly Mark[]
  /** Marks that could not be rendered, and why. */
  readonly failed?: ReadonlyMap<Mark, unknown>
}

/**
 * A function of records to files. Changes of the records set marks of its kind; the loops over
 * marks, of `build --all`, of `verify` and of leftover files know nothing else of it.
 */
export interface Projection<Context> extends Follower {
  /**
   * `answer`: a publisher waits for it. `idle`: most publishes change some of its files, which list
   * many crates; a burst waits.
   */
  readonly due: 'answer' | 'soon' | 'idle'
  /** What rendering a mark takes, as a multiple of the other kinds; for estimates of the rest. */
  readonly cost?: number
  /** Whether its marks can be rendered beside each other. */
  readonly isParallel?: boolean
  /**
   * Renders the files of a mark, and removes those that are gone; the caller clears the mark.
   * `others` are marks of its kind in the same batch, which may be done with it.
   */
  render(context: Context, mark: Mark, others: readonly Mark[]): Promise<Rendered>
  /** Marks everything that it has, in a transaction. */
  markAll(tx: Queries): Promise<unknown>
  /** Yields everything that it has, one crate or file after the other. */
  parts(context: Context): AsyncIterable<Part>
  /** Returns whether it may have a file in the folder of a crate; it has none there without it. */
  owns?(file: CrateFile): boolean
  /** The other folders to sweep for leftover files. */
  readonly leftover?: Leftover<Context>
}

/** Where a projection has its files. */
export interface Leftover<Context> {
  /** Its files are in these folders, and below them. */
  readonly folders: readonly string[]
  /** Its files are among others in this folder. */
  readonly among?: string
  /** Returns whether a file is one of its own; all are in `folders` without it. */
  readonly isOwn?: (path: string) => boolean
  /** Returns the paths that it wants, where that costs less than rendering all parts. */
  readonly paths?: (context: Context) => Promise<Iterable<string>>
}

/** Returns the projections among what follows the records; publishers wait for the first ones. */
export function projectionsOf<Context>({
  followers,
}: Pick<Records, 'followers'>): readonly Projection<Context>[] {
  return followers.filter((follower): follower is Projection<Context> => 'parts' in follower)
}

/** Returns whether a projection has the file at a path for the crate in whose folder it is. */
export function isInCrate(
  records: Pick<Records, 'followers'>,
  path: string,
  crate: CrateVersions,
): boolean {
  if (crate.versions.size === 0) return false
  const below = path.slice(crateFolder(crate.name).length + 1)
  const end = below.indexOf('/')
  const folder = below.slice(0, Math.max(end, 0))
  const version = isVersion(folder) ? folder : null
  if (version !== null && !crate.versions.has(version)) return false
  const file = { path, version, file: version === null ? below : below.slice(end + 1), crate }
  return projectionsOf<never>(records).some(projection => projection.owns?.(file))
}

/** A projection that no publisher waits for: its files are pages, and what searches read. */
export interface Unawaited<Context> extends Projection<Context> {
  readonly due: 'soon' | 'idle'
}

/** Returns the projections that no publisher waits for, in the order of rendering. */
export function pagesOf<Context>(records: Pick<Records, 'followers'>) {
  return projectionsOf<Context>(records).filter(
    (projection): projection is Unawaited<Context> => projection.due !== 'answer',
  )
}

/** Returns the projection of pages whose marks have a kind. */
export function projectionOf(records: Pick<Records, 'followers'>, kind: string) {
  return pagesOf(records).find(projection => projection.kind === kind)
}
