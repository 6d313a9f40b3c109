import { createReadStream } from 'node:fs'
import { rawFilePath } from '../../core/paths/crates.ts'
import { readContents } from '../../core/tarball/recover.ts'
import { imageType } from '../../site/source/files.ts'
import type { Package } from './source-task.ts'

/** A file of a `.crate` that somebody asks for by the path of its bytes. */
export interface RawJob {
  readonly package: Package
  readonly name: string
  readonly version: string
  /** A path that `rawFilePath` returns. */
  readonly path: string
}

/** Larger files are not served one by one; the package has them. */
const RAW_MAX = 4 * 1024 ** 2

/** Returns the bytes of a file by its raw path; null if there is none, or it is too large. */
export async function readRawFile(job: RawJob): Promise<Uint8Array | null> {
  const { name, version, path } = job
  const wanted = (file: string) =>
    [false, true].some(isImage => rawFilePath(name, version, file, isImage) === path)
  const limits = {
    fileBytes: RAW_MAX,
    bytes: RAW_MAX * 2,
    unpackedBytes: job.package.unpackedBytes,
  }
  const files = await readContents(() => createReadStream(job.package.path), limits, { wanted })
  const found = files.find(
    one => rawFilePath(name, version, one.path, imageType(one) !== null) === path,
  )
  return found?.content ?? null
}
