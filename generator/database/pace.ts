import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long this process works before others get a turn of the event loop, in milliseconds. */
const LONGEST_MS = 4

/** When the present turn of the event loop began its work; null before that. */
let began: number | null = null

/**
 * Does a piece of work; in a later tick of the event loop once this one has worked for 4 ms.
 * Promises that follow each other never leave a tick by themselves.
 */
export async function paced<T>(piece: () => T): Promise<T> {
  // Those who wait go on one by one: the first one's piece counts for the next one.
  while (isOver()) await nextTurn()
  return piece()
}

/** Ends a piece of work: others get a turn of the event loop if this one is over. */
export function pace(): Promise<void> {
  return paced(() => undefined)
}

function isOver(): boolean {
  if (began !== null) return performance.now() - began > LONGEST_MS
  began = performance.now()
  setImmediate(() => {
    began = null
  })
  return false
}
