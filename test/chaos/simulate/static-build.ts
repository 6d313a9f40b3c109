// Builds a static tree, as its argument says, until it is killed.
import { buildStatic } from '../../../generator/static/build.ts'
import { jobOf } from '../../support/static-sequence.ts'

const { settings, from, out, cache } = JSON.parse(process.argv[2] ?? '{}')
await buildStatic(jobOf(settings, from, out, cache))
