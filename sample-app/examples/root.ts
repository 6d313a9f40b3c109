import { App } from '../app.ts'

/** The smallest application: one path, nothing asked for, a message. */
export function root(): App {
  const app = new App('Root')
  app.get('/', {}, () => ({ message: 'Hello World' }))
  return app
}
