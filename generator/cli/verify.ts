import type { Command } from 'commander'
import { isServed } from '../registry.ts'
import type { Finding } from '../verify/finding.ts'
import { verify } from '../verify/verify.ts'
import { withRegistry } from './folder.ts'
import { Exit, type FolderOptions, type Io, progressLine, withDir } from './io.ts'

/** `verify [--repair]`: compares all parts of the registry; exits with 1 if something differs. */
export function registerVerify(program: Command, io: Io): void {
  withDir(program.command('verify'), io)
    .description('compare database, crate store, public tree and git index with one another')
    .option('--repair', 'repair everything that can be derived')
    .option('--json', 'print the findings as JSON')
    .action((options: FolderOptions & { repair?: boolean; json?: boolean }) =>
      withRegistry(io, options, async registry => {
        const progress = progressLine(io, 'verifying crate')
        const served = isServed(registry.dir)
        const findings: Finding[] = []
        const job = { repair: options.repair ?? false, served, progress: progress.at }
        for await (const finding of verify(registry, job)) {
          progress.done()
          findings.push(finding)
          const { where, what, repaired, lost } = finding
          const fate = repaired ? 'repaired: ' : lost ? 'lost: ' : ''
          if (!options.json) io.out(`${fate}${where}: ${what}`)
        }
        progress.done()
        if (options.json) io.out(JSON.stringify(findings, null, 2))
        else if (findings.length === 0) io.out('everything agrees')
        if (findings.some(one => !one.repaired)) throw new Exit(1)
      }),
    )
}
