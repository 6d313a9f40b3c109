import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

/** The longest that a page may keep its reader waiting, in milliseconds. */
export const TASK_MAX = 200

/**
 * Returns the longest time in milliseconds for which the page kept its thread busy during `work`:
 * processor time, which others on the machine do not change.
 */
export async function longest(page: Page, work: () => Promise<unknown>): Promise<number> {
  const browser = page.context().browser()
  assert.ok(browser)
  await browser.startTracing(page, { categories: ['toplevel'] })
  await work()
  const { traceEvents: all } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: readonly TraceEvent[]
  }
  const thread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const main = all.filter(
    ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain',
  )
  const threads = new Set(main.map(thread))
  const tasks = all.filter(event => event.tdur !== undefined && threads.has(thread(event)))
  assert.ok(tasks.length > 0, 'nothing was measured')
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000))
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Processor time in microseconds. */
  readonly tdur?: number
  readonly args: { readonly name?: string }
}
