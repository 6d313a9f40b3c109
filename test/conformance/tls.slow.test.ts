import { tlsDriver } from './driver-daemon.ts'
import { register } from './scenarios.ts'

register(tlsDriver)
