import { stat } from 'node:fs/promises'

/**
 * As many trips to the disk as let everything happen in this process that waits for nothing else.
 */
const TRIPS = 100

/** Lets everything happen that can: the rest waits for something. */
export async function settle(): Promise<void> {
  for (let trip = 0; trip < TRIPS; trip++) await stat('.')
}

/** Whether a promise is still pending when everything that can happen has happened. */
export async function isWaiting(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  const record = () => {
    isSettled = true
  }
  promise.then(record, record)
  await settle()
  return !isSettled
}
