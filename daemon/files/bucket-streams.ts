import { finished, type Readable } from 'node:stream'
import type { Context } from 'hono'
import { addressGroup, clientAddress } from '../http/client-address.ts'
import { type Slot, Slots } from '../http/slots.ts'
import { webStream } from './web-stream.ts'

const DEFAULTS = {
  /** Returns the client address, for its share of the places; by default the remote address. */
  addressOf: clientAddress([]),
  /** Answers that are streamed at a time; `maxWaiting` more requests wait, others are refused. */
  maxRunning: 256,
  maxWaiting: 256,
  /** The longest wait: Cargo gives up after 30 seconds, which the storage may take half of. */
  waitMs: 10_000,
  /** The time that every answer has, and how many bytes of it give it another millisecond. */
  timeoutMs: 600_000,
  bytesPerMs: 10,
}

export interface BucketStream {
  readonly bytes: Readable
  readonly size: number
  readonly answer: ResponseInit
}

/** Answers with what `find` gets at its turn; refuses when too many wait, or it waits too long. */
export type StreamFromBucket = (
  c: Context,
  find: () => Promise<BucketStream | Response | null>,
) => Promise<Response | null>

/**
 * Limits the requests that are answered from a bucket: how many are at a time, how long one waits
 * for its turn, and how long its client may take. One client address has at most half of the
 * places. So clients that take little or nothing hold a known number of connections.
 */
export function bucketStreams(options: Partial<typeof DEFAULTS> = {}): StreamFromBucket {
  const { addressOf, maxRunning, maxWaiting, waitMs, ...limits } = { ...DEFAULTS, ...options }
  const slots = new Slots({
    ...{ running: maxRunning, waiting: maxWaiting, waitMs },
    busy: 'downloads_busy',
  })
  return async (c, find) => {
    const slot = slots.admit(addressGroup(addressOf(c)))
    let isStreamed = false
    try {
      await slot.start(c.req.raw.signal)
      const file = await find()
      if (file === null || file instanceof Response) return file
      untilSent(file, slot, limits)
      isStreamed = true
      return new Response(webStream(file.bytes), file.answer)
    } finally {
      if (!isStreamed) slot.leave()
    }
  }
}

/** Keeps the place until the bytes are sent, and ends what takes too long. */
function untilSent(
  { bytes, size }: BucketStream,
  slot: Slot,
  { timeoutMs, bytesPerMs }: Pick<typeof DEFAULTS, 'timeoutMs' | 'bytesPerMs'>,
): void {
  const slow = () => bytes.destroy(new Error('the client has taken too long to read an answer'))
  const timer = setTimeout(slow, timeoutMs + size / bytesPerMs)
  finished(bytes, () => {
    clearTimeout(timer)
    slot.leave()
  })
}
