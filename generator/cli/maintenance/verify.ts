// generator/cli/maintenance: The commands of operators. The program lists them; they leave the work
// to the room of that name.
import { counted, formatNumber } from '../../../core/quantity.ts'
import { isServed } from '../../registry/registry.ts'
import { openUpstreams } from '../../upstream/open.ts'
import type { Finding } from '../../verify/finding.ts'
import { verifyUpstreams } from '../../verify/upstream.ts'
import { verify } from '../../verify/verify.ts'
import { type RegistryTask, registryCommand } from '../console/command.ts'
import { Exit } from '../console/io.ts'

export const registerVerify = registryCommand('verify', {
  about: 'compare database, crate store, public tree and git index with one another',
  takes: { '--repair': 'repair everything that can be derived' },
  examples: {
    'plimsoll verify': 'changes nothing, also while a daemon is running',
    'plimsoll verify --json': 'names every file, also where many have one cause',
    'plimsoll verify --repair': 'renders, restores or removes what can be derived',
  },
  json: 'an array with an object for each difference: `where`; `what`; `lost`, whether nothing in the registry can restore it; `repaired`',
  fails: 'something differs, was not repaired, and is not only still to be rendered',
  reads: ({ repair }) => !repair,
  async run({ io, registry, options, progress, report }: RegistryTask<{ repair?: boolean }>) {
    const served = await isServed(registry)
    const findings: Finding[] = []
    let pending = 0
    const onPending = (outputs: number) => {
      pending += outputs
    }
    const job = { repair: options.repair ?? false, served, progress, onPending }
    for await (const finding of verify(registry, job)) findings.push(finding)
    const upstreams = await openUpstreams(registry, { env: io.env })
    for await (const finding of verifyUpstreams(upstreams.sources, job)) findings.push(finding)
    await upstreams.close()
    report(findings, [...grouped(findings), summary(findings, pending)])
    if (pending > 0) {
      const who = served ? 'the daemon renders them' : 'a daemon or `plimsoll build` renders them'
      const are = pending === 1 ? 'is' : 'are'
      io.err(`${counted(pending, 'output')} ${are} still to be rendered; ${who}`)
    }
    if (findings.some(finding => !finding.repaired)) throw new Exit(1)
  },
})

/** Up to this many findings with one cause have a line each. */
const ALONE = 3

function grouped(findings: readonly Finding[]): string[] {
  const causes = new Map<string, Finding[]>()
  for (const finding of findings) {
    const cause = `${finding.repaired} ${finding.lost} ${finding.what}`
    const group = causes.get(cause)
    if (group) group.push(finding)
    else causes.set(cause, [finding])
  }
  return [...causes.values()].flatMap(all => {
    const [{ where, what, repaired, lost }] = all as [Finding]
    const fate = repaired ? 'repaired: ' : lost ? 'lost: ' : ''
    // Operators have to find each lost file elsewhere.
    if (lost || all.length <= ALONE) return all.map(finding => `${fate}${finding.where}: ${what}`)
    return [`${fate}${what}: ${counted(all.length, 'file')}, such as ${where}`]
  })
}

function summary(findings: readonly Finding[], pending: number): string {
  if (findings.length === 0) return `everything${pending > 0 ? ' else' : ''} agrees`
  const repaired = findings.filter(finding => finding.repaired)
  const lost = findings.filter(finding => finding.lost)
  const fate = lost.length > 0 ? `; ${formatNumber(lost.length)} lost` : ''
  return `${counted(findings.length, 'difference')}, ${formatNumber(repaired.length)} repaired${fate}`
}
