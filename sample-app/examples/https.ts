import { App } from '../app.ts'

/** A path that is meant to be served over TLS: start it with `--cert` and `--key`. The application is like any other. */
export function https(): App {
  const app = new App('TLS')
  app.get('/https', {}, () => ({ message: 'Hello over HTTPS' }))
  return app
}
