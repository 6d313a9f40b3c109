/** An index file as the records have it now. */
export interface IndexFile {
  readonly text: string
  /** The `.crate` files that are perhaps not shown yet: keys of the crate store by path. */
  readonly unshown: ReadonlyMap<string, string>
}

/** What a mirror asks the records of its tree. */
export interface TreeRecords {
  /** Whether several daemons may write them, and the tree. */
  readonly areShared: boolean
  /** Returns an index file as the records have it now; null where there is none. */
  readonly indexFile: (path: string) => Promise<IndexFile | null>
  /** Returns whether the records have a release of these bytes; by default, all are. */
  readonly isReleased: (cksum: string) => Promise<boolean>
  /** Returns the key of the version whose `.crate` or folder is at a path; null if there is none. */
  readonly keyAt: (path: string) => Promise<string | null>
}
