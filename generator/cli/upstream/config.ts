import { type Command, Option } from 'commander'
import { refuse, warning } from '../../../core/error/error.ts'
import { cargoConfig, cargoSetup } from '../../../core/upstream/cargo-config.ts'
import { type Tool, toolConfigs } from '../../../core/upstream/tool-config.ts'
import { registryUrls } from '../../../core/urls/urls.ts'
import { isRegistry } from '../../registry/folder.ts'
import { type FolderOptions, type Io, printIssues, report, run, withDir } from '../console/io.ts'
import { looseSettings } from '../console/loose-settings.ts'
import { withManual } from '../console/manual.ts'

interface Options extends FolderOptions {
  readonly with?: string
  readonly for?: Tool
  readonly json?: boolean
}

/** `config`: prints what users of Cargo and other tools paste; changes nothing. */
export function registerConfig(program: Command, io: Io): void {
  const command = withDir(program.command('config'), io)
    .description('print what users paste into the configuration of Cargo, or of another tool')
    .option('--with <name>', 'have the crates of the upstream NAME come from here, too')
    .addOption(
      new Option('--for <tool>', 'print it for another tool').choices(Object.keys(toolConfigs)),
    )
    .option('--base-url <url>', 'URL at which users reach the registry')
    .action((options: Options) => run(io, async () => printConfig(io, options, command)))
  withManual(command, {
    examples: [
      ['plimsoll config', 'prints the block for .cargo/config.toml'],
      ['plimsoll config --for github-actions', 'prints a workflow that has the block'],
    ],
    json: 'an object: `text`, what to paste; `index`, the index URL of the registry; `registries`, an array with `name` and `index` of each registry in it',
    fails: 'the settings cannot be read',
  })
}

function printConfig(io: Io, options: Options, command: Command): void {
  const { settings } = looseSettings(io, command, options)
  const { registry, server, upstream } = settings
  if (registry.base_url === null) {
    if (!isRegistry(options.dir)) refuse('not_a_registry', { dir: options.dir })
    printIssues(io, [warning('config_address_guessed', { address: `http://${server.listen}` })])
  }
  const chosen = Object.values(upstream).find(({ name }) => name === options.with) ?? null
  if (options.with !== undefined && chosen === null)
    refuse('upstream_unknown', { name: options.with, known: Object.keys(upstream) })
  const setup = cargoSetup(settings, registryUrls(registry, `http://${server.listen}`), chosen)
  const text = options.for === undefined ? cargoConfig(setup) : toolConfigs[options.for](setup)
  const result = { text, index: setup.own.index, registries: setup.registries }
  report(io, options, result, [text.trimEnd()])
}
