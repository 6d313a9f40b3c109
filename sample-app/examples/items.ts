/** The list that the examples answer from. */
export const ITEMS = [{ item_name: 'Foo' }, { item_name: 'Bar' }, { item_name: 'Baz' }] as const

/**
 * The items from `skip` on, at most `limit` of them. Negative numbers count from the end, as in
 * Python's slices: a skip of -1 is the last item, a limit of -1 ends before it.
 */
export function slice(skip: number | bigint, limit: number | bigint) {
  return ITEMS.slice(Number(skip), Number(skip) + Number(limit))
}
