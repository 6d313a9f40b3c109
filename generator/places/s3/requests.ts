import { createReadStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { refuseForeign } from './failure.ts'
import type { PutObjectCommand, S3Client } from './sdk.ts'

/** Commands of the SDK whose request is changed on its way. */
interface Changeable {
  readonly middlewareStack: PutObjectCommand['middlewareStack']
}

interface Exchange {
  readonly request: { readonly method: string; readonly path: string; readonly query?: object }
  readonly response: {
    readonly statusCode: number
    readonly headers: Readonly<Record<string, string>>
    readonly body?: { destroy?(): void }
  }
}

/**
 * Refuses successes that no object storage answers with: what is stored or read has an ETag, which
 * is strong, a change has no content, and only an object that is a page is one. Lists are known by
 * their XML.
 */
export function expectStorage({ middlewareStack }: Pick<S3Client, 'middlewareStack'>): void {
  middlewareStack.add(
    next => async args => {
      const result = await next(args)
      const { method, path, query = {} } = args.request as Exchange['request']
      const { statusCode, headers, body } = result.response as Exchange['response']
      const isPage = /html/i.test(headers['content-type'] ?? '')
      const mayBePage = /^(?:GET|HEAD)$/.test(method) && path.endsWith('.html')
      const { etag = '', 'content-length': length } = headers
      const isRight =
        method === 'DELETE'
          ? statusCode === 204 || length === '0'
          : 'list-type' in query ||
            (etag !== '' && (method !== 'PUT' || !(etag.startsWith('W/') || Number(length))))
      if (statusCode < 300 && (!isRight || (isPage && !mayBePage))) {
        body?.destroy?.()
        refuseForeign(`${method} ${statusCode} ${isPage ? 'with a page' : 'without an ETag'}`)
      }
      return result
    },
    { step: 'deserialize', priority: 'low' },
  )
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

/** Sends a file, then closes it. If reading fails, it ends the request: the SDK does not. */
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
