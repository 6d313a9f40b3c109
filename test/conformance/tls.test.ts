import { tlsDriver } from './driver-tls.ts'
import { register } from './scenario.ts'
import { chosen } from './scenarios.ts'

// The registry is the same as without TLS, the wire is not.
register(tlsDriver, chosen(['publish.ts', 'resolve.ts', 'http2.ts', 'privacy.ts']))
