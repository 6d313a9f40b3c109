import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { createSecureContext } from 'node:tls'
import { setFlagsFromString } from 'node:v8'
import { Command, InvalidArgumentError, Option } from 'commander'
import { examples } from './examples.ts'
import { gallery, single } from './gallery.ts'
import { hashPassword } from './login/password.ts'
import { listen } from './server.ts'
import { readSettings } from './settings.ts'

// Each piece of an upload is a buffer. The thread that frees them falls behind on a busy machine,
// and a large upload then needs twice the memory: free them as soon as they are collected.
setFlagsFromString('--no-concurrent-array-buffer-sweeping')

const program = new Command('npm run sample --')
  .description('Serves the examples of sample-app/; its README.md has the variables it reads.')
  .addOption(
    new Option('--example <name>', 'serve this one at the root, not all of them').choices([
      ...examples.keys(),
    ]),
  )
  .option('--port <number>', '0 to 65535, 0 takes a free one', parsePort, 8000)
  .option('--host <address>', 'the address to listen on', '127.0.0.1')
  .option('--cert <file>', 'a certificate in PEM, with its chain; serves HTTPS')
  .option('--key <file>', 'its private key in PEM')
  .option('--hash-password', 'print a hash for SAMPLE_USERS of the password on standard input')
  .allowExcessArguments(false)
  .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
const flags = program.parse().opts<
  Partial<Record<'example' | 'cert' | 'key', string>> & {
    host: string
    port: number
    hashPassword?: true
  }
>()

try {
  if (flags.hashPassword) {
    console.log(await hashPassword((await text(process.stdin)).replace(/\r?\n$/, '')))
  } else await serve()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text)
  throw new InvalidArgumentError('It takes 0 to 65535.')
}

/** @throws an error that names the files, whichever of them is unusable */
function readTlsFiles({ cert, key }: typeof flags) {
  if (cert === undefined && key === undefined) return undefined
  if (!cert || !key) return program.error('error: --cert and --key go together')
  try {
    const files = { cert: readFileSync(cert), key: readFileSync(key) }
    // Node itself fails at the first connection only.
    createSecureContext(files)
    return files
  } catch (error) {
    throw new Error(`cannot serve TLS with ${cert} and ${key}: ${Object(error).message}`)
  }
}

async function serve(): Promise<void> {
  const example = examples.get(flags.example ?? '')
  const settings = readSettings(process.env, example ? [example] : examples.values())
  const tls = readTlsFiles(flags)
  // Node would listen on every address.
  if (flags.host === '') program.error('error: --host takes a name or an address')
  const { fetch } = example ? single(example) : gallery()
  const running = await listen(
    (request, env) => fetch(request, { ...settings, ...env }),
    flags,
    tls,
  )
  const demo = Object.keys(settings).filter(name => process.env[name] === undefined)
  if (demo.length > 0) {
    console.error(`warning: demo values are in use for ${demo.join(', ')}; anyone can look them up`)
  }
  if (example?.name === 'https' && !tls) {
    console.error('warning: serving without TLS; give --cert FILE --key FILE')
  }
  let stopped = Number.POSITIVE_INFINITY
  const stop = (signal?: string) => {
    // A starter such as npm delivers one Ctrl-C twice; a second one later means: now.
    if (signal === 'SIGINT' && performance.now() > stopped + 250) process.exit(130)
    if (stopped === Number.POSITIVE_INFINITY) void running.close()
    stopped = Math.min(stopped, performance.now())
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, stop)
  process.once('disconnect', stop)
  process.channel?.unref()
  // Said last: whoever reads it may send a signal at once.
  console.log(`listening on ${running.url}`)
}
