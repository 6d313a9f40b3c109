import { formatBytes } from '../../../core/quantity.ts'
import { button, element, part } from '../element.ts'
import type { TaskWorker } from './task-worker.ts'
import type { ArchiveTasks, OpenedPackage } from './workers/archive.ts'
import type { Check, PackagePlace } from './workers/load.ts'

/** Larger packages are only loaded when the reader asks for it. */
const ASKED_BYTES = 8 * 1024 * 1024

/** Shows the loading package and its check's result; asks the reader when necessary. */
export class CheckBox {
  readonly #root: HTMLElement
  readonly #state: HTMLElement
  readonly #question: HTMLElement

  constructor(root: HTMLElement) {
    this.#root = root
    this.#state = part(root, '[data-state]')
    this.#question = part(root, '[data-ask]')
  }

  begin(): void {
    this.#root.dataset.checksum = 'unchecked'
    this.#question.replaceChildren()
  }

  say(...words: readonly (Node | string)[]): void {
    this.#state.replaceChildren(...words)
  }

  /** Shows the results of the checks of all packages of the page. */
  conclude(checks: readonly (Check & { readonly name: string })[]): void {
    const states = checks.map(check => check.state)
    const worst = (['differs', 'unchecked'] as const).find(state => states.includes(state))
    this.#root.dataset.checksum = worst ?? 'verified'
    this.say(
      ...checks.map(check => element('span', { className: check.state }, ...wordsOf(check), ' ')),
    )
  }

  ask(question: string, answer: string): Promise<void> {
    return new Promise(resolve => {
      const agree = button(answer, () => {
        this.#question.replaceChildren()
        resolve()
      })
      this.#question.replaceChildren(element('p', {}, `${question} `, agree))
    })
  }

  /** Loads a package and checks it; asks before a large package, and before a wrong one. */
  async open(worker: TaskWorker<ArchiveTasks>, place: PackagePlace): Promise<OpenedPackage> {
    const { name, version, size } = place
    const what = `${name} ${version}`
    if (size > ASKED_BYTES)
      await this.ask(`The package of ${what} has ${formatBytes(size)}.`, 'Load it')
    const progress = element('progress', { max: size, value: 0 })
    progress.setAttribute('aria-label', `Loading ${what}`)
    this.say(`Loading ${what}, ${formatBytes(size)} … `, progress)
    const onProgress = (loaded: unknown) => {
      progress.value = loaded as number
    }
    const opened = await worker.ask('open', { place, anyway: false }, onProgress)
    if (opened.check.state !== 'differs') return opened
    this.conclude([{ ...opened.check, name: what }])
    await this.ask('None of it is shown.', 'Show it anyway')
    return worker.ask('open', { place, anyway: true })
  }
}

function wordsOf(check: Check & { readonly name: string }): (Node | string)[] {
  const code = (text: string) => element('code', {}, text)
  const { name, cksum, state } = check
  if (state === 'verified')
    return [`Verified: ${name} matches the index of this host, SHA-256 `, code(cksum)]
  if (state === 'unchecked')
    return [
      `Unchecked: ${name} could not be compared because ${check.because}; its SHA-256 is `,
      code(cksum),
    ]
  return [
    `Differs: the package that was loaded for ${name} does not match the index of this host, and Cargo would refuse it. The SHA-256 in the index is `,
    code(check.wanted),
    ', that of the package ',
    code(cksum),
  ]
}

/** Returns the location of a version's package, from the page's data about crate and version. */
export function packagePlace(
  root: HTMLElement,
  version: string,
  { size, unpacked }: DOMStringMap,
): PackagePlace {
  const { name = '', dl = '', index = '' } = root.dataset
  const bytes = { size: Number(size), unpacked: Number(unpacked) }
  return { name, version, dl, index, page: location.href, ...bytes }
}
