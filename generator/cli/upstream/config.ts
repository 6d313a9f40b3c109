import { refuse, warning } from '../../../core/error/error.ts'
import { cargoConfig, cargoSetup } from '../../../core/upstream/cargo-config.ts'
import { type Tool, toolConfigs } from '../../../core/upstream/tool-config.ts'
import { registryUrls } from '../../../core/urls/urls.ts'
import { isRegistry } from '../../registry/folder.ts'
import { command, type Task } from '../console/command.ts'
import { printIssues } from '../console/io.ts'
import { looseSettings } from '../console/loose-settings.ts'

export const registerConfig = command('config', {
  about: 'print what users paste into the configuration of Cargo, or of another tool',
  takes: {
    '--with <name>': 'have the crates of the upstream NAME come from here, too',
    '--for <tool>': { about: 'print it for another tool', choices: Object.keys(toolConfigs) },
    '--base-url <url>': 'URL at which users reach the registry',
  },
  examples: {
    'plimsoll config': 'prints the block for .cargo/config.toml',
    'plimsoll config --for github-actions': 'prints a workflow that has the block',
  },
  json: 'an object: `text`, what to paste; `index`, the index URL of the registry; `registries`, an array with `name` and `index` of each registry in it',
  fails: 'the settings cannot be read',
  async run(task: Task<{ with?: string; for?: Tool }>) {
    const { io, options } = task
    const { settings } = looseSettings(task, false)
    const { registry, server, upstream } = settings
    if (registry.base_url === null) {
      if (!isRegistry(options.dir)) refuse('not_a_registry', { dir: options.dir })
      printIssues(io, [warning('config_address_guessed', { address: `http://${server.listen}` })])
    }
    const chosen = Object.values(upstream).find(({ name }) => name === options.with) ?? null
    if (options.with !== undefined && chosen === null)
      refuse('upstream_unknown', { name: options.with, upstreams: Object.keys(upstream) })
    const setup = cargoSetup(settings, registryUrls(registry, `http://${server.listen}`), chosen)
    const text = options.for === undefined ? cargoConfig(setup) : toolConfigs[options.for](setup)
    const result = { text, index: setup.own.index, registries: setup.registries }
    task.report(result, [text.trimEnd()])
  },
})
