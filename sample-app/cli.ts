import { text } from 'node:stream/consumers'
import { Command, Option } from 'commander'
import { gallery, single } from './app.ts'
import { listen, type Place } from './examples/apps/serve.ts'
import { hashPassword } from './examples/security/password.ts'
import { readUsers } from './examples/security/users.ts'
import { examples } from './examples.ts'

const port = new Option('--port <number>', '0 to 65535, 0 takes a free one').env('PORT')
const program = new Command('npm run sample --')
  .description('Serves the examples of sample-app/; its README.md has the variables it reads.')
  .addOption(new Option('--example <name>', 'serve only this one').choices([...examples.keys()]))
  .addOption(port.default(8000).argParser(text => Number(text.trim() || Number.NaN)))
  .option('--host <address>', 'the address to listen on', '127.0.0.1')
  .option('--cert <file>', 'a certificate in PEM, with its chain; serves HTTPS')
  .option('--key <file>', 'its private key in PEM')
  .option('--hash-password', 'print a hash for SAMPLE_USERS of the password on standard input')
const flags = program.parse().opts<Place & { example?: string; hashPassword?: true }>()

await run().catch(({ message }) => program.error(message))

async function run(): Promise<void> {
  if (flags.hashPassword) {
    const password = await text(process.stdin)
    return console.log(await hashPassword(password.replace(/\r?\n$/, '')))
  }
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
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, running.close)
  // Without its starter it ends, too.
  process.once('disconnect', running.close)
  process.channel?.unref()
  // Comes last: its reader may send a signal at once.
  console.log(`listening on ${running.url}`)
}
