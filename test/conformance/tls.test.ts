import { tlsDriver } from './driver-tls.ts'
import { register } from './scenario.ts'
import { scenarios } from './scenarios.ts'

register(tlsDriver, scenarios)
