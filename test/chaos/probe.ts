import { readFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { get as getSecurely, Agent as SecureAgent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Milliseconds between two questions. */
const PERIOD = 20

/** Everybody else's view of a daemon: the time of `/healthz`. Runs in its own thread. */
export class Probe {
  readonly #worker: Worker

  constructor(url: string) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: url })
  }

  /** Gives the latencies since the last call, in milliseconds; a failure is `Infinity`. */
  async take(): Promise<number[]> {
    return new Promise(resolve => {
      this.#worker.once('message', resolve)
      this.#worker.postMessage('take')
    })
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** Resident memory of a process in MiB, and its open descriptors (Linux). */
export function residentMiB(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024)
}

async function probe(url: string): Promise<void> {
  const isSecure = url.startsWith('https:')
  const options = { keepAlive: true, maxSockets: 1 }
  const secureAgent = new SecureAgent({ ...options, rejectUnauthorized: false })
  const agent = new Agent(options)
  let times: number[] = []
  parentPort?.on('message', () => {
    parentPort?.postMessage(times)
    times = []
  })
  for (;;) {
    const began = performance.now()
    const isAnswered = await new Promise<boolean>(resolve => {
      const take = (answer: IncomingMessage) =>
        answer.resume().on('end', () => resolve(answer.statusCode === 200))
      const asked = isSecure
        ? getSecurely(`${url}/healthz`, { agent: secureAgent }, take)
        : get(`${url}/healthz`, { agent }, take)
      asked.on('error', () => resolve(false))
    })
    const took = performance.now() - began
    // A daemon that stands still makes late all questions that were due meanwhile, not one.
    for (let late = took; late > 0; late -= PERIOD)
      times.push(isAnswered ? late : Number.POSITIVE_INFINITY)
    await sleep(Math.max(0, PERIOD - took))
  }
}

if (!isMainThread) await probe(workerData as string)
