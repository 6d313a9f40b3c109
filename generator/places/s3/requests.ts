import { createReadStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { PutObjectCommand } from './sdk.ts'

/** Commands of the SDK whose request is changed on its way. */
interface Changeable {
  readonly middlewareStack: PutObjectCommand['middlewareStack']
}

/** Signs the checksum of the body, so that the server stores no other bytes. */
export function signChecksum({ middlewareStack }: Changeable, cksum: string): void {
  middlewareStack.add(
    next => args => {
      const { headers } = args.request as { headers: Record<string, string> }
      headers['x-amz-content-sha256'] = cksum
      return next(args)
    },
    { step: 'build' },
  )
}

/**
 * Sends a file. Closes it when the request ends, and ends the request when it cannot be read: the
 * SDK does neither.
 */
export function sendFile({ middlewareStack }: Changeable, file: string): void {
  middlewareStack.add(
    next => async args => {
      const body = createReadStream(file)
      const failed = new Promise<never>((_, reject) => body.once('error', reject))
      Object.assign(args.request as object, { body })
      try {
        return await Promise.race([next(args), failed])
      } finally {
        body.destroy()
      }
    },
    { step: 'finalizeRequest', priority: 'low' },
  )
}

/**
 * Destroys an answer whose server is silent for `silence` milliseconds, but not while its reader
 * leaves bytes where they are: then it is we who do not let the server send.
 */
export function destroyWhenSilent(bytes: IncomingMessage, silence: number): void {
  const { socket } = bytes
  // A reader may have taken the last byte only now: the server is silent when nothing came since.
  let seen = -1
  const look = () => {
    const isWaiting = bytes.readableLength === 0
    if (isWaiting && socket.bytesRead === seen)
      return void bytes.destroy(
        Object.assign(new Error('the server is silent'), { code: 'ETIMEDOUT' }),
      )
    seen = isWaiting ? socket.bytesRead : -1
    socket.setTimeout(silence / 2)
  }
  socket.setTimeout(silence / 2).on('timeout', look)
  bytes.once('close', () => socket.setTimeout(0).off('timeout', look))
}
