import type { Command } from 'commander'
import { counted } from '../../core/quantity.ts'
import { isServed } from '../registry.ts'
import type { Finding } from '../verify/finding.ts'
import { verify } from '../verify/verify.ts'
import { withManual } from './console/manual.ts'
import { progressLine } from './console/progress.ts'
import { readRegistry, withRegistry } from './folder.ts'
import { Exit, type FolderOptions, type Io, report, withDir } from './io.ts'

interface VerifyOptions extends FolderOptions {
  readonly repair?: boolean
  readonly json?: boolean
}

/** `verify [--repair]`: compares all parts of the registry; exits with 1 if something differs. */
export function registerVerify(program: Command, io: Io): void {
  const command = withDir(program.command('verify'), io)
    .description('compare database, crate store, public tree and git index with one another')
    .option('--repair', 'repair everything that can be derived')
    .action((options: VerifyOptions) =>
      (options.repair ? withRegistry : readRegistry)(io, options, async registry => {
        const progress = progressLine(io)
        const served = await isServed(registry)
        const findings: Finding[] = []
        const job = { repair: options.repair ?? false, served, progress: progress.at }
        for await (const finding of verify(registry, job)) {
          findings.push(finding)
          const { where, what, repaired, lost } = finding
          const fate = repaired ? 'repaired: ' : lost ? 'lost: ' : ''
          if (!options.json) io.out(`${fate}${where}: ${what}`)
        }
        progress.done()
        report(io, options, findings, [summary(findings)])
        if (findings.some(one => !one.repaired)) throw new Exit(1)
      }),
    )
  withManual(command, {
    examples: [
      ['plimsoll verify', 'changes nothing, also while a daemon is running'],
      ['plimsoll verify --repair', 'renders, restores or removes what can be derived'],
    ],
    json: 'an array with an object for each difference: `where`; `what`; `lost`, whether only a backup can restore it; `repaired`',
    fails: 'something differs and was not repaired',
  })
}

function summary(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'everything agrees'
  const [repaired, lost] = [findings.filter(one => one.repaired), findings.filter(one => one.lost)]
  const fate = lost.length > 0 ? `; ${lost.length} can only be restored from a backup` : ''
  return `${counted(findings.length, 'difference')}, ${repaired.length} repaired${fate}`
}
