import { parseArgs } from 'node:util'
import { examples } from './catalogue.ts'

/** What the command line asked for. */
export interface Flags {
  readonly example?: string
  readonly host: string
  readonly port: number
  readonly cert?: string
  readonly key?: string
  readonly help: boolean
  readonly hashPassword: boolean
}

/** A command line that makes no sense; the message says what does. */
export class UsageError extends Error {}

export const USAGE = `usage: npm run sample -- [--example NAME] [--port N] [--host H] [--cert FILE --key FILE]

  --example NAME   serve this example at the root; without it all of them under /examples/NAME/
  --port N         0 to 65535, 0 takes a free one (default 8000)
  --host H         the address to listen on (default 127.0.0.1)
  --cert, --key    PEM files; serves HTTPS
  --hash-password  reads a password from standard input and prints its hash for SAMPLE_USERS

examples: ${[...examples.keys()].join(', ')}

environment: SAMPLE_X_TOKEN, SAMPLE_X_KEY, SAMPLE_USERS (see sample-app/README.md)`

/**
 * Reads the command line.
 * @throws UsageError
 */
export function readFlags(args: readonly string[]): Flags {
  const { example, port = '8000', host = '127.0.0.1', cert, key, ...rest } = parsed(args)
  if (example !== undefined && !examples.has(example)) {
    throw new UsageError(
      `there is no example ${JSON.stringify(example)}; choose one of: ${[...examples.keys()].join(', ')}`,
    )
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535) throw new UsageError(`--port takes 0 to 65535, not ${port}`)
  if (host === '') throw new UsageError('--host takes a name or an address')
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError('--cert and --key go together: give both or none')
  return {
    ...(example !== undefined && { example }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    host,
    port: Number(port),
    help: rest.help ?? false,
    hashPassword: rest['hash-password'] ?? false,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        example: { type: 'string' },
        port: { type: 'string' },
        host: { type: 'string' },
        cert: { type: 'string' },
        key: { type: 'string' },
        help: { type: 'boolean' },
        'hash-password': { type: 'boolean' },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
