import type { Readable } from 'node:stream'

/**
 * Returns bytes as the body of a response, read as fast as the client takes them; when it leaves,
 * they are destroyed. Node's own `Readable.toWeb` throws where nobody catches it if the client
 * leaves just before bytes that have arrived are read.
 */
export function webStream(bytes: Readable): ReadableStream<Uint8Array> {
  const chunks = bytes[Symbol.asyncIterator]()
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      const { value, done } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel() {
      bytes.destroy()
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}
