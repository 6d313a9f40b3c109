import assert from 'node:assert/strict'
import { BASE } from './release.ts'
import { Visitor } from './visitor.ts'

/** A browser, as a daemon on a socket sees it. */
export class RemoteBrowser extends Visitor {
  constructor(base: string) {
    const request = (url: string, init: RequestInit) =>
      fetch(url.replace(BASE, base), { ...init, redirect: 'manual' })
    super({ app: { request } })
  }

  /** Sets a password by a one-time link. */
  setPassword(link: string, password: string): Promise<Response> {
    const reset = new URL(link).searchParams.get('link') ?? assert.fail(link)
    return this.post('/me/password', { reset, password, again: password })
  }

  /** Whether `/me` shows an account and not the login page. */
  async isLoggedIn(): Promise<boolean> {
    const response = await this.get('/me')
    assert.equal(response.status, 200)
    return !/<h1>Log in<\/h1>/.test(await response.text())
  }
}
