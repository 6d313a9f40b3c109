import { text } from 'node:stream/consumers'
import { Command, InvalidArgumentError, Option } from 'commander'
import { ValiError } from 'valibot'
import { gallery, single } from './app.ts'
import { listen, type Place } from './examples/apps/serve.ts'
import { hashPassword } from './examples/security/password.ts'
import { readUsers } from './examples/security/users.ts'
import { examples } from './examples.ts'

const example = new Option('--example <name>', 'serve only this one').choices([...examples.keys()])
const port = new Option('--port <number>', '0 to 65535, 0 takes a free one')
port.env('PORT').default(8000).argParser(parsePort)
const program = new Command('npm run sample --')
  .description('Serves the examples of sample-app/; its README.md has the variables it reads.')
  .addOption(example)
  .addOption(port)
  .option('--host <address>', 'the address to listen on', '127.0.0.1')
  .option('--cert <file>', 'a certificate in PEM, with its chain; serves HTTPS')
  .option('--key <file>', 'its private key in PEM')
  .option('--hash-password', 'print a hash for SAMPLE_USERS of the password on standard input')
  .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
const flags = program.parse().opts<Place & { example?: string; hashPassword?: true }>()

try {
  if (flags.hashPassword) {
    console.log(await hashPassword((await text(process.stdin)).replace(/\r?\n$/, '')))
  } else await serve()
} catch (error) {
  const place = error instanceof ValiError ? 'SAMPLE_USERS: ' : ''
  console.error(`${place}${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text)
  throw new InvalidArgumentError('It takes 0 to 65535.')
}

async function serve(): Promise<void> {
  if (!flags.cert !== !flags.key) program.error('error: --cert and --key go together')
  // Node would listen on every address.
  if (flags.host === '') program.error('error: --host takes a name or an address')
  // An example would stumble over them at the first login.
  readUsers(process.env.SAMPLE_USERS)
  const example = examples.get(flags.example ?? '')
  const running = await listen(example ? single(example) : gallery(), flags)
  const sources = example ? [example] : [...examples.values()]
  const read = sources.flatMap(({ source }) => source.match(/\bSAMPLE_[A-Z_]+/g) ?? [])
  const demo = [...new Set(read)].filter(name => !process.env[name])
  if (demo.length > 0)
    console.error(`warning: demo values are in use for ${demo.join(', ')}; anyone can look them up`)
  const isPlain = example?.name === 'https' && !flags.cert
  if (isPlain) console.error('warning: serving without TLS; give --cert FILE --key FILE')
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, running.close)
  // Without its starter it ends, too.
  process.once('disconnect', running.close)
  process.channel?.unref()
  // Comes last: its reader may send a signal at once.
  console.log(`listening on ${running.url}`)
}
