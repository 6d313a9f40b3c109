import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { type ServerType, serve } from '@hono/node-server'
import { Hono } from 'hono'
import { type GitHttpOptions, gitHttp } from '../../daemon/files/git-http/git-http.ts'
import type { IndexRepository } from '../../generator/git/index-repository/repository.ts'
import { openIndexRepository } from '../../generator/git/index-repository/repository.ts'
import { root } from './index-repository.ts'

export { fresh, root, run } from './index-repository.ts'

/** The content type of requests. */
export const TYPE = 'application/x-git-upload-pack-request'
export const path = join(root, 'index.git')
export let repository: IndexRepository
const failures: unknown[] = []

before(async () => {
  repository = await openIndexRepository({ path, engine: 'git' })
  for (let i = 0; i < 5; i++) await put('ca/rg/cargo', `${i}\n`)
})
after(async () => {
  await repository.close()
  assert.deepEqual(failures, [])
})

export const put = async (name: string, text: string): Promise<string | null> =>
  await repository.commit([{ path: name, bytes: Buffer.from(text) }], {
    message: `${text}\n`,
    time: new Date(),
  })

/** The handler alone in an app; a failure that it reports fails the test file. */
export function app(options: Partial<GitHttpOptions> = {}): Hono {
  const handle = gitHttp({
    repositoryPath: path,
    onFailure: error => failures.push(error),
    ...options,
  })
  return new Hono().all('/index.git/*', c => handle(c))
}

/** The same on a socket. */
export async function listen(
  options: Partial<GitHttpOptions> = {},
): Promise<{ server: ServerType; url: string }> {
  const server = serve({ fetch: app(options).fetch, port: 0, hostname: '127.0.0.1' })
  await once(server, 'listening')
  const address = server.address()
  return {
    server,
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/index.git`,
  }
}
