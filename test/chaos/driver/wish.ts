import { encodePublish, plainMetadata } from '../../support/release.ts'
import { DONE, type Operation, shown } from './history.ts'
import { crateBytes } from './lines.ts'

/** A change or read of a crate. */
export type Deed = Pick<Operation, 'what' | 'about'>

/** A deed, and the client who wants it. */
export type Wish = Deed & Pick<Operation, 'client' | 'user'>

/** A request, from any sender. */
export interface Call {
  readonly method: 'GET' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: Uint8Array<ArrayBuffer>
}

/** The call of a deed; `bytes` is the body of a publish. */
export function callOf(
  name: string,
  { what, about }: Deed,
  bytes: Uint8Array = what === 'publish' ? crateBytes(name, about) : new Uint8Array(),
): Call {
  const crate = `/api/v1/crates/${name}`
  switch (what) {
    case 'publish': {
      const body = encodePublish(plainMetadata(name, about), bytes)
      return { method: 'PUT', path: '/api/v1/crates/new', body }
    }
    case 'yank':
      return { method: 'DELETE', path: `${crate}/${about}/yank` }
    case 'unyank':
      return { method: 'PUT', path: `${crate}/${about}/unyank` }
    case 'own':
    case 'disown': {
      const body = new Uint8Array(Buffer.from(JSON.stringify({ users: [about] })))
      return { method: what === 'own' ? 'PUT' : 'DELETE', path: `${crate}/owners`, body }
    }
    case 'owners':
    case 'versions':
      return { method: 'GET', path: `${crate}/${what}` }
  }
}

/** The request of a deed about a crate; `bytes` is the body of a publish. */
export function requestOf(
  url: string,
  token: string,
  name: string,
  deed: Deed,
  bytes?: Uint8Array,
): Request {
  const { method, path, body } = callOf(name, deed, bytes)
  const headers = {
    ...((method !== 'GET' || deed.what === 'owners') && { authorization: token }),
    ...(/own$/.test(deed.what) && { 'content-type': 'application/json' }),
  }
  return new Request(`${url}${path}`, { method, headers, ...(body && { body }) })
}

/** The result of a deed that succeeded, by the text of the answer. */
export function resultOf({ what }: Deed, text: string): string {
  if (what === 'owners') {
    const { users } = JSON.parse(text) as { users: { login: string }[] }
    return users
      .map(user => user.login)
      .sort()
      .join()
  }
  if (what !== 'versions') return DONE
  const { versions } = JSON.parse(text) as { versions: { num: string; yanked: boolean }[] }
  return shown(versions.map(version => [version.num, version.yanked] as const))
}
