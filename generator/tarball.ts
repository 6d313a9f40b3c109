export type { Archive, ArchiveFile, ArchiveLimits } from './tarball/archive.ts'
export { type ContentFile, readContents } from './tarball/contents.ts'
export { readArchive, readArchiveFile } from './tarball/read.ts'
export { type Salvage, salvageArchive, salvageFile } from './tarball/salvage.ts'
