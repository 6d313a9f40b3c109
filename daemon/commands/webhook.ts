import { randomUUID } from 'node:crypto'
import { refuse } from '../../core/error/error.ts'
import { sectionOf } from '../../core/settings/named.ts'
import { timestamp } from '../../core/timestamp.ts'
import {
  commandGroup,
  type RegistryTask,
  registryCommand,
} from '../../generator/cli/console/command.ts'
import { table } from '../../generator/cli/console/table.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { listDeliveries, listWebhooks, resend } from '../../generator/webhooks/deliveries.ts'
import { Sender } from '../../generator/webhooks/sender.ts'

const takes = { '<name>': 'the NAME of its [webhook.NAME]' }

function requireWebhook({ settings: { webhook } }: Registry, name: string) {
  return sectionOf(webhook, name) ?? refuse('webhook_unknown', { name })
}

const registerList = registryCommand('list', {
  about: 'list the webhooks, and the events that were sent last',
  examples: { 'plimsoll webhook list': 'shows what receivers have not taken' },
  json: 'an object: `webhooks`, an array with `name`, `ended_at`, a time or null, and `waiting`, a number; `deliveries`, an array, the newest first, with `id`, `webhook`, `message`, `type`, `data`, `at`, `attempts`, `due_at` and `result`, null before the first attempt',
  fails: 'the registry cannot be read',
  reads: true,
  async run({ registry: { database }, report }: RegistryTask) {
    const webhooks = await listWebhooks(database)
    const deliveries = await listDeliveries(database, 100)
    const states = webhooks.map(({ name, ended_at: ended, waiting }) => {
      return [name, ended === null ? 'on' : `gone since ${ended}`, String(waiting)]
    })
    const log = deliveries.map(({ at, webhook, type, attempts, due_at: due, result }) => {
      return [at, webhook, type, String(attempts), result ?? 'not sent yet', due ?? '']
    })
    report({ webhooks, deliveries }, [
      ...table(['webhook', 'state', 'waiting'], states),
      ...table(['time', 'webhook', 'event', 'attempts', 'result', 'next attempt'], log),
    ])
  },
})

const registerTest = registryCommand('test', {
  about: 'send a webhook an event of the type `webhook.test`, and show its exact bytes',
  takes,
  examples: { 'plimsoll webhook test deploys': 'sends it once, signed like all others' },
  json: 'an object: `headers`, an object; `body`; `status`, a number, or null without an answer; `problem`, null if it was taken',
  fails: 'the event was not taken',
  reads: true,
  async run({ io, registry, report }: RegistryTask, name: string) {
    const sender = new Sender(requireWebhook(registry, name), registry.settings.outgoing, io.env)
    const now = io.now()
    const event = { type: 'webhook.test', timestamp: timestamp(now), data: { generation: 0 } }
    const message = { id: `msg_${randomUUID()}`, body: JSON.stringify(event) }
    const sent = await sender.send(message, now).finally(() => sender.close())
    const { headers, status, problem } = sent
    const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}`)
    const end = status === null ? [] : [`HTTP status ${status}`]
    const { body } = message
    report({ headers, body, status, problem }, [...lines, '', body, '', ...end])
    if (problem !== null) refuse('webhook_failed', { name, reason: problem })
  },
})

const registerResend = registryCommand('resend', {
  about: 'send what a webhook has not taken, also after its receiver was gone (410)',
  takes,
  examples: { 'plimsoll webhook resend deploys': 'has the daemon send it now' },
  json: 'an object: `events`, a number',
  fails: 'there is no such webhook',
  async run({ io, registry, report }: RegistryTask, name: string) {
    requireWebhook(registry, name)
    const events = await resend(registry.database, name, io.now())
    report({ events }, [`the daemon sends ${events} events again`])
  },
})

export const registerWebhook = commandGroup('webhook', 'see, test and repeat what is told others', [
  registerList,
  registerTest,
  registerResend,
])
