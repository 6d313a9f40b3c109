export type { Archive, ArchiveFile, ArchiveLimits } from './tarball/archive.ts'
export { readArchive, readArchiveFile } from './tarball/read.ts'
