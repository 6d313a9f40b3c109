import type { OnFailure } from '../../core/async/on-failure.ts'
import { Repeater, within } from '../../core/async/repeater.ts'
import { issue, Refusal } from '../../core/error/error.ts'
import type { Environment } from '../../core/settings/source.ts'
import type { Lease } from '../../generator/places/locks/process-mutex.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import {
  type Delivered,
  dueDeliveries,
  pruneDeliveries,
  recordAttempt,
} from '../../generator/webhooks/deliveries.ts'
import { deleteWebhooks } from '../../generator/webhooks/events.ts'
import { messageOf, Sender } from '../../generator/webhooks/sender.ts'
import type { Worker } from './worker.ts'

/** How often the worker looks, in milliseconds, and after how many looks old ones are removed. */
const LOOK_EVERY = 1000
const PRUNE_AT = 3600

/** The most events that one webhook is sent at the same time. */
const AT_ONCE = 8

/** For how many seconds at most a stop waits for answers; who has not answered is asked again. */
const CLOSE_SECONDS = 5

/**
 * Sends recorded events, each until its receiver has taken it; a receiver that hangs holds up no
 * other. Of several daemons, the one with the lease does so.
 */
export class WebhookWorker implements Worker {
  readonly #registry: Registry
  readonly #onFailure: OnFailure
  readonly #lease: Lease
  readonly #speed: number
  readonly #senders: ReadonlyMap<string, Sender>
  readonly #running = new Map<string, Promise<void>>()
  readonly #repeater = new Repeater(() => this.#look())
  #looks = 0
  #isClosing = false

  constructor(registry: Registry, env: Environment, onFailure: OnFailure) {
    this.#registry = registry
    this.#onFailure = onFailure
    this.#lease = registry.locks.lease('webhooks')
    this.#speed = Number(env.PLIMSOLL_TEST_WEBHOOK_SPEED ?? 1)
    const { webhook, outgoing } = registry.settings
    this.#senders = new Map(
      Object.values(webhook).map(own => [own.name, new Sender(own, outgoing, env)]),
    )
  }

  async start(): Promise<void> {
    await deleteWebhooks(this.#registry.database, [...this.#senders.keys()])
    if (this.#senders.size > 0) this.#repeater.schedule(0)
  }

  async close(seconds: number): Promise<void> {
    this.#isClosing = true
    await this.#repeater.close()
    const end = () => Promise.all(this.#running.values())
    await within(end(), Math.min(seconds, CLOSE_SECONDS) * 1000, null)
    for (const sender of this.#senders.values()) await sender.close()
    await end()
    await this.#lease.close()
  }

  async #look(): Promise<number> {
    const { database, clock } = this.#registry
    try {
      if (await this.#lease.isMine()) {
        if (this.#looks++ % PRUNE_AT === 0) await pruneDeliveries(database, clock())
        for (const [name, sender] of this.#senders) {
          if (this.#running.has(name)) continue
          const work = this.#deliver(name, sender).catch(this.#onFailure)
          this.#running.set(name, work)
          void work.finally(() => this.#running.delete(name))
        }
      }
    } catch (error) {
      this.#onFailure(error)
    }
    return LOOK_EVERY / this.#speed
  }

  async #deliver(name: string, sender: Sender): Promise<void> {
    const { database, clock } = this.#registry
    const due = () => dueDeliveries(database, name, clock(), AT_ONCE)
    for (let events = await due(); events.length > 0; events = await due()) {
      if (this.#isClosing) return
      await Promise.all(events.map(event => this.#send(name, sender, event)))
    }
  }

  async #send(name: string, sender: Sender, event: Delivered): Promise<void> {
    const { authRequired, database, clock } = this.#registry
    const attempt = await sender.send(messageOf(event, authRequired), clock()).catch(error => {
      if (!(error instanceof Refusal)) throw error
      return { status: null, after: null, problem: error.message }
    })
    // A stop broke the connection.
    if (this.#isClosing && attempt.status === null) return
    await recordAttempt(database, name, event, attempt, clock(), this.#speed)
    const { problem } = attempt
    if (problem === null) this.#onFailure.done?.()
    else this.#onFailure(new Refusal([issue('webhook_failed', { name, reason: problem })]))
  }
}
