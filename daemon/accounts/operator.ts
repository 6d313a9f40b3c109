import type { Change } from '../../generator/index.ts'

/** A change made at the command line, where there is neither user nor token. */
export function byOperator(at: string): Change {
  return { at, actor: 'command line', user: null, tokenId: null }
}
