import { encodePublish, plainMetadata } from '../../test/support/release.ts'
import { DONE, type Operation, shown } from './history.ts'

/** What a client wants to do. */
export type Wish = Pick<Operation, 'client' | 'user' | 'what' | 'about'>

/** The request of a wish about a crate; `bytes` are those of a publish. */
export function requestOf(
  url: string,
  token: string,
  name: string,
  { what, about }: Wish,
  bytes: Uint8Array,
): Request {
  const headers = { authorization: token }
  const crate = `${url}/api/v1/crates/${name}`
  switch (what) {
    case 'publish': {
      const body = new Uint8Array(encodePublish(plainMetadata(name, about), bytes))
      return new Request(`${url}/api/v1/crates/new`, { method: 'PUT', headers, body })
    }
    case 'yank':
      return new Request(`${crate}/${about}/yank`, { method: 'DELETE', headers })
    case 'unyank':
      return new Request(`${crate}/${about}/unyank`, { method: 'PUT', headers })
    case 'own':
    case 'disown':
      return new Request(`${crate}/owners`, {
        method: what === 'own' ? 'PUT' : 'DELETE',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ users: [about] }),
      })
    case 'owners':
      return new Request(`${crate}/owners`)
    case 'versions':
      return new Request(`${crate}/versions`)
  }
}

/** The result of a wish that succeeded, by the text of the answer. */
export function resultOf({ what }: Wish, text: string): string {
  if (what === 'owners') {
    const { users } = JSON.parse(text) as { users: { login: string }[] }
    return users
      .map(user => user.login)
      .sort()
      .join()
  }
  if (what !== 'versions') return DONE
  const { versions } = JSON.parse(text) as { versions: { num: string; yanked: boolean }[] }
  return shown(versions.map(one => [one.num, one.yanked] as const))
}
