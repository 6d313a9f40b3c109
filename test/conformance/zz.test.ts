import { describe } from 'node:test'
import { bucketDriver } from './driver-bucket.ts'
import { catalogDriver } from './driver-catalog.ts'
import { daemonDriver } from './driver-daemon.ts'
import { filesGitDriver } from './driver-files-git.ts'
import { gitDriver } from './driver-git.ts'
import { staticDriver } from './driver-static.ts'
import { tlsDriver } from './driver-tls.ts'
import { playStatements } from './statements.ts'

const all = { catalogDriver, daemonDriver, gitDriver, staticDriver, tlsDriver, bucketDriver }
for (const [name, driver] of Object.entries(all)) describe(name, () => playStatements(driver))
