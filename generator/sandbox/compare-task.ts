import { type Comparison, comparisonPage } from '../../site/compare/page.ts'
import { type Package, readPackage } from './source-task.ts'

/** Two `.crate` files whose contents have to be compared. */
export interface CompareJob {
  readonly comparison: Comparison
  readonly before: Package
  readonly after: Package
}

/** Renders the page that compares two `.crate` files. */
export async function renderComparisonPage(job: CompareJob): Promise<string> {
  const before = await readPackage(job.before, true)
  const after = await readPackage(job.after, true)
  return comparisonPage(job.comparison, { before, after })
}
