import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Cleanup } from './cleanup.ts'
import { closeServer, listen } from './loopback.ts'

interface CachedAnswer {
  readonly status: number
  readonly body: string
  readonly keys: readonly string[]
}

/**
 * A CDN that keeps answers until one of the keys in their header is purged, regardless of
 * `Cache-Control`. `POST /purge` takes the keys as Fastly does.
 */
export class KeyCache {
  /** The keys of each purge. */
  readonly purges: (readonly string[])[] = []
  /** The paths that the origin was asked for. */
  readonly asked: string[] = []
  readonly url: string
  readonly #kept = new Map<string, CachedAnswer>()

  private constructor(url: string) {
    this.url = url
  }

  static async start(cleanup: Cleanup): Promise<KeyCache> {
    const server = createServer()
    const cache = new KeyCache(await listen(server))
    cleanup.add(() => closeServer(server))
    server.on('request', async (request, response) => {
      const { surrogate_keys: keys } = JSON.parse(await text(request)) as {
        surrogate_keys: string[]
      }
      cache.#purge(keys)
      response.end()
    })
    return cache
  }

  /** Answers from memory, or as the server at `origin` does. */
  async get(origin: string, path: string): Promise<CachedAnswer> {
    const known = this.#kept.get(path)
    if (known) return known
    this.asked.push(path)
    const answer = await fetch(origin + path)
    const keys = answer.headers.get('surrogate-key')?.split(' ') ?? []
    const kept = { status: answer.status, body: await answer.text(), keys }
    const rule = answer.headers.get('cache-control') ?? 'no-store'
    if (!/no-store|private/.test(rule)) this.#kept.set(path, kept)
    return kept
  }

  #purge(keys: readonly string[]): void {
    this.purges.push(keys)
    for (const [path, kept] of this.#kept)
      if (kept.keys.some(key => keys.includes(key))) this.#kept.delete(path)
  }
}
