/** The list that the examples answer from. */
export const ITEMS = [{ item_name: 'Foo' }, { item_name: 'Bar' }, { item_name: 'Baz' }]

/** At most `limit` items from `skip` on; as in Python, negative numbers count from the end. */
export const page = ({ skip, limit }: Page) => ITEMS.slice(skip, skip + limit)
type Page = { skip: number; limit: number }
