/** An index file as the records have it now. */
export interface IndexFile {
  readonly text: string
  /** The `.crate` files that are perhaps not shown yet: paths, with keys of the crate store. */
  readonly unshown: Iterable<readonly [path: string, key: string]>
}

/** The questions of a mirror to the records of its tree. */
export interface TreeRecords {
  /** Whether daemons of several machines may have them. */
  readonly areShared: boolean
  /** Returns an index file as the records have it now; null where there is none. */
  readonly indexFile: (path: string) => Promise<IndexFile | null>
  /** Returns whether the records have a release of these bytes; by default, all are. */
  readonly isReleased: (cksum: string) => Promise<boolean>
  /** Returns the key of the version whose `.crate` or folder is at a path; null if there is none. */
  readonly keyAt: (path: string) => Promise<string | null>
}
