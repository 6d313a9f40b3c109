// Loaded before each test file. `node:test` hooks into every promise to say in which test a stray
// error arose, which takes an eighth of the processor time of short tests. Only tests are followed
// here, so that each knows its suite; a stray error still fails its file, by whichever test it arose.
import { createRequire } from 'node:module'

const hooks = createRequire(import.meta.url)('node:async_hooks')
const { createHook } = hooks

/** The first hook is the one of `node:test`; it is made when a file imports that. */
hooks.createHook = ({ init }) => {
  hooks.createHook = createHook
  return createHook({
    init: (id, type, ...rest) => {
      if (type === 'Test') init(id, type, ...rest)
    },
  })
}
