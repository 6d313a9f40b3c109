import type { About } from '../../../core/manifest/manifest.ts'
import { categoryPath, keywordPath } from '../../../core/paths/listings.ts'
import { sha256Bytes } from '../../../core/sha256.ts'
import type { Row } from '../../database/statement.ts'

/** A keyword or category that has a page. */
export type Label = Pick<Row<'labels'>, 'id' | 'kind' | 'slug'>

/** The labels of a crate by their ids. */
export type Labels = ReadonlyMap<number, Label>

/** Maximum number of labels of one crate; a policy may allow any number of keywords. */
const LABELS_MAX = 32

/**
 * Returns the keywords and categories that have a page. A crate of `science::robotics` is also in
 * `science`, as on crates.io. The id is a hash, so that a publish need not look it up.
 */
export function labelsOf({ keywords, categories }: Pick<About, 'keywords' | 'categories'>): Labels {
  const labels = new Map<number, Label>()
  const put = (kind: Label['kind'], slug: string) => {
    const id = sha256Bytes(`${kind} ${slug}`).readUIntBE(0, 6)
    if (labels.size < LABELS_MAX) labels.set(id, { id, kind, slug })
  }
  for (const keyword of keywords)
    if (keywordPath(keyword) !== null) put('keyword', keyword.toLowerCase())
  for (const category of categories) {
    if (categoryPath(category) === null) continue
    const levels = category.toLowerCase().split('::')
    for (const at of levels.keys()) put('category', levels.slice(0, at + 1).join('::'))
  }
  return labels
}
