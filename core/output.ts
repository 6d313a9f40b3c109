import { type Place, placeOf } from './paths/place.ts'

/** One file of the public tree. */
export interface Output extends Place {
  readonly bytes: Buffer
}

/** Creates a file of the public tree; its path determines content type and cache rule. */
export function output(path: string, body: Buffer | { toString(): string }): Output {
  return { ...placeOf(path), bytes: Buffer.isBuffer(body) ? body : Buffer.from(body.toString()) }
}
