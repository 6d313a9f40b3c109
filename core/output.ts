import { type Place, placeOf } from './paths/place.ts'

/** One file of the public tree: where it is and its bytes. */
export interface Output extends Place {
  readonly bytes: Buffer
}

/** A file of the public tree; text is written as UTF-8, type and cache rule follow from the path. */
export function output(path: string, body: Buffer | { toString(): string }): Output {
  return { ...placeOf(path), bytes: Buffer.isBuffer(body) ? body : Buffer.from(body.toString()) }
}
