// The S3 server of the tests: which version, and where `npm run setup:s3` keeps its program.
import { homedir } from 'node:os'
import { join } from 'node:path'

export const VERSION = 'v1.8.0'

/** Outside the checkout, so that it is compiled once on a machine. */
export const program = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'plimsoll',
  `versitygw-${VERSION}-${process.platform}-${process.arch}`,
)
