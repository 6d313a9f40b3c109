import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/** The treatment of a gate's connections. */
export type Passage = 'open' | 'refused' | 'stalled' | 'gone'

interface Pair {
  readonly near: Socket
  readonly far: Socket
}

/** A TCP proxy between a daemon and a server, which cuts the daemon off. */
export class Gate {
  readonly #target: NetConnectOpts
  readonly #server = createServer(near => this.#accept(near))
  readonly #pairs = new Set<Pair>()
  /** Connections to the server whose daemon seems to have vanished. */
  readonly #orphans = new Set<Socket>()
  /** Connections that were accepted while nothing passed. */
  readonly #waiting = new Set<Socket>()
  #passage: Passage = 'open'

  constructor(target: NetConnectOpts) {
    this.#target = target
  }

  /** Listens on an address, on a free port unless one is given; returns the port. */
  async listen(host: string, port = 0): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, resolve)
    })
    return (this.#server.address() as AddressInfo).port
  }

  get isOpen(): boolean {
    return this.#passage === 'open'
  }

  /**
   * `refused`: connections are reset, new ones too. `stalled`: they stay, and nothing passes until
   * the gate is open again. `gone`: the daemon's are reset, and the server hears nothing.
   */
  set(passage: Passage): void {
    this.#passage = passage
    if (passage === 'open') this.#open()
    else if (passage === 'stalled') for (const pair of this.#pairs) hold(pair)
    else {
      for (const { near, far } of this.#pairs) {
        near.unpipe(far)
        if (passage === 'gone') this.#orphans.add(far)
        else far.destroy()
        near.resetAndDestroy()
      }
      this.#pairs.clear()
    }
  }

  close(): void {
    this.set('refused')
    for (const socket of [...this.#orphans, ...this.#waiting]) socket.destroy()
    this.#server.close()
  }

  #open(): void {
    for (const socket of this.#orphans) socket.destroy()
    this.#orphans.clear()
    for (const { near, far } of this.#pairs) join(near, far)
    for (const near of this.#waiting) this.#pass(near)
    this.#waiting.clear()
  }

  #accept(near: Socket): void {
    near.on('error', () => undefined)
    if (this.#passage === 'open') this.#pass(near)
    else if (this.#passage === 'stalled') {
      this.#waiting.add(near)
      near.on('close', () => this.#waiting.delete(near))
    } else near.resetAndDestroy()
  }

  #pass(near: Socket): void {
    const far = connect(this.#target)
    far.on('error', () => undefined)
    const pair = { near, far }
    this.#pairs.add(pair)
    near.on('close', () => {
      this.#pairs.delete(pair)
      if (!this.#orphans.has(far)) far.destroy()
    })
    far.on('close', () => {
      this.#orphans.delete(far)
      near.destroy()
    })
    join(near, far)
  }
}

function join(near: Socket, far: Socket): void {
  near.setNoDelay(true)
  near.pipe(far)
  far.pipe(near)
}

function hold({ near, far }: Pair): void {
  near.unpipe(far)
  far.unpipe(near)
  near.pause()
  far.pause()
}
