// The program of the disk's thread: runs the steps of each message and sends their results.
import { parentPort } from 'node:worker_threads'
import type { Order, Outcome } from './disk.ts'
import { steps } from './steps.ts'

parentPort?.on('message', (orders: readonly Order[]) => {
  const outcomes = orders.map(({ step, parameters }): Outcome => {
    try {
      return { value: (steps[step] as (...args: unknown[]) => unknown)(...parameters) }
    } catch (error) {
      const { code, syscall, path, message } = error as NodeJS.ErrnoException
      return { error: { message, ...(code && { code, syscall, path }) } }
    }
  })
  parentPort?.postMessage(outcomes)
})
