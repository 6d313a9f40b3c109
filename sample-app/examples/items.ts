import type { Integer } from '../input/integer.ts'

/** The list that the examples answer from. */
export const ITEMS = [{ item_name: 'Foo' }, { item_name: 'Bar' }, { item_name: 'Baz' }] as const

/**
 * The items from `skip` on, at most `limit` of them. Negative numbers count from the end, as in Python's slices: a skip of
 * -1 is the last item, a limit of -1 ends before it.
 */
export function slice(skip: Integer, limit: Integer): readonly { readonly item_name: string }[] {
  return ITEMS.slice(place(BigInt(skip)), place(BigInt(skip) + BigInt(limit)))
}

/** A bigint as a number that means the same place in a short list. */
function place(index: bigint): number {
  return Number(
    BigInt.asIntN(64, index) === index ? index : index < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER,
  )
}
