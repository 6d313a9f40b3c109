import { createReadStream } from 'node:fs'
import type { Output } from '../../core/paths/tree.ts'
import { type ContentFile, readContents } from '../../core/tarball/recover.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { FILE_MAX } from '../../site/source/files.ts'
import { type SourceData, sourcePages } from '../../site/source/pages.ts'

/** A `.crate` and how much may be unpacked of it. */
export interface Package {
  readonly path: string
  readonly unpackedBytes: number
}

/** A `.crate` whose source browser has to be rendered. */
export interface SourceJob extends Omit<SourceData, 'files'> {
  readonly package: Package
  readonly site: SiteConfig
  /** Why the files are shown without colors, as a clause; null for pages with colors. */
  readonly plainBecause: string | null
}

/** Takes a part of a result; resolves when the receiver is ready for more. */
export type Send = (part: unknown) => Promise<void>

/** The most bytes of one `.crate` that get pages; files beyond them are only listed. */
const SOURCE_BYTES_MAX = 16 * 1024 ** 2

/** The size in bytes at which a part of the pages is sent. */
const PART_BYTES = 1024 ** 2

/** Renders the pages of a `.crate`'s files and sends them, a megabyte at a time. */
export async function renderSourcePages(job: SourceJob, send: Send): Promise<void> {
  const { site, plainBecause, ...data } = job
  const files = await readPackage(job.package)
  let part: Output[] = []
  let size = 0
  for (const page of sourcePages(site, { ...data, files }, plainBecause)) {
    part.push(page)
    size += page.bytes.length
    if (size < PART_BYTES) continue
    await send(part)
    part = []
    size = 0
  }
  await send(part)
}

/** Reads the files of a `.crate` as far as they can be shown; the others are hashed if asked for. */
export function readPackage(
  { path, unpackedBytes }: Package,
  hasDigests = false,
): Promise<ContentFile[]> {
  const limits = { fileBytes: FILE_MAX, bytes: SOURCE_BYTES_MAX, unpackedBytes }
  return readContents(() => createReadStream(path), limits, { hasDigests })
}
