import { tlsDriver } from './driver-tls.ts'
import { register } from './scenario.ts'
import { scenarios, subjects } from './scenarios.ts'

/**
 * The registry is the same as without TLS, the wire is not: scenarios about the wire are played
 * every time, all on demand.
 */
const wire = [
  'publish.ts',
  'workspace.ts',
  'answers.ts',
  'resolve.ts',
  'http2.ts',
  'git-index.ts',
  'privacy.ts',
]

const isFull = process.env.PLIMSOLL_CONFORMANCE === 'full'
register(tlsDriver, isFull ? scenarios : wire.flatMap(file => subjects[file] ?? []))
