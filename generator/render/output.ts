import type { SiteFile } from '../../site/index.ts'
import { type Output, placeOf } from '../paths.ts'

const encoder = new TextEncoder()

/** A file of the site as one of the public tree. */
export function output(file: SiteFile): Output {
  return { ...placeOf(file.path), bytes: typeof file.body === 'string' ? encoder.encode(file.body) : file.body }
}
