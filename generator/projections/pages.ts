import { forEachConcurrently } from '../../core/async/concurrently.ts'
import type { Output } from '../../core/paths/tree.ts'
import { all } from '../database/statement.ts'
import { markSelected } from '../records/marks.ts'
import type { PageContext } from './context.ts'
import type { Unawaited } from './projection.ts'

export type Pages = Unawaited<PageContext>

/** Writes files, and removes the paths of `gone` that are not among them. */
export async function replaceFiles(
  { tree }: PageContext,
  outputs: readonly Output[],
  gone: readonly string[],
): Promise<void> {
  // Together they go to the thread of the disk in one message.
  await forEachConcurrently(outputs, output => tree.write(output))
  const written = new Set(outputs.map(output => output.path))
  for (const path of gone) if (!written.has(path)) await tree.remove(path)
}

/**
 * Returns what a projection does with marks whose files depend on nothing but the subject. `every`
 * selects `subject` and `generation` of all marks, and `about` (see `Part`). `outputs` returns the
 * files of a subject, and `paths` where some may be left over.
 */
export function bySubject(
  kind: string,
  every: string,
  outputs: (context: PageContext, subject: number) => Promise<readonly Output[]>,
  paths: (context: PageContext, subject: number) => Promise<readonly string[]> = async () => [],
): Pick<Pages, 'render' | 'markAll' | 'parts'> {
  return {
    async render(context, mark) {
      const files = await outputs(context, mark.subject)
      await replaceFiles(context, files, await paths(context, mark.subject))
      return { done: [mark] }
    },
    markAll: tx => markSelected(tx, kind, every),
    async *parts(context) {
      const sql = `SELECT subject, about FROM (${every}) AS every
        WHERE subject > ? ORDER BY subject LIMIT 1000`
      type Found = { readonly subject: number; readonly about: string }
      const read = (after: number) => all<Found>(context.database, sql, after)
      for (let rows = await read(-2); rows.length > 0; rows = await read(rows.at(-1)?.subject ?? 0))
        for (const { subject, about } of rows)
          yield { about, pending: { kind, subject }, render: () => outputs(context, subject) }
    },
  }
}
