import type { PublicTree } from '../../generator/places/public-tree.ts'

/** Hands every tree in a batch of `tree` to `hook`; returns a function that undoes it. */
export function hookTree(tree: PublicTree, hook: (inner: PublicTree) => void): () => void {
  const { within } = tree
  tree.within = batch => {
    const inner = within.call(tree, batch)
    hook(inner)
    return inner
  }
  return () => {
    tree.within = within
  }
}
