import assert from 'node:assert/strict'

/** A browser, as a daemon on a socket sees it: cookies, and forms sent as their pages have them. */
export class RemoteBrowser {
  readonly #cookies = new Map<string, string>()
  readonly #base: string

  constructor(base: string) {
    this.#base = base
  }

  /** Asks for a page, without following where it leads. */
  get(path: string): Promise<Response> {
    return this.#send(path, {})
  }

  /** Posts fields and the hidden fields of the page `from`; returns the status of the answer. */
  async post(
    path: string,
    fields: Readonly<Record<string, string>> = {},
    from = '/me',
  ): Promise<number> {
    const text = await (await this.get(from)).text()
    const csrf =
      /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? assert.fail(`${from} has no form: ${text}`)
    const response = await this.#send(path, {
      method: 'POST',
      body: new URLSearchParams({ csrf, ...fields }),
    })
    await response.arrayBuffer()
    return response.status
  }

  logIn(login: string, password: string): Promise<number> {
    return this.post('/me/login', { login, password })
  }

  /** Sets a password by a one-time link. */
  setPassword(link: string, password: string): Promise<number> {
    const reset = new URL(link).searchParams.get('link') ?? assert.fail(link)
    return this.post('/me/password', { reset, password, again: password })
  }

  /** Whether `/me` shows an account and not the login page. */
  async isLoggedIn(): Promise<boolean> {
    const response = await this.get('/me')
    assert.equal(response.status, 200)
    return !/<h1>Log in<\/h1>/.test(await response.text())
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', ...(cookie && { cookie }) }
    const response = await fetch(`${this.#base}${path}`, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return response
  }
}
