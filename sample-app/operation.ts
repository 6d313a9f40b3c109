import type { Context } from 'hono'
import type { FormFields } from './form/form-fields.ts'
import type { Input, Inputs, Parameter, Values } from './input/input.ts'
import { wireName } from './input/parameter.ts'
import type { SampleEnv } from './wire/target.ts'

/** What an application answers to one method and path: what it asks for, and what it makes of it. */
export interface Operation {
  readonly method: 'GET' | 'POST'
  /** In Hono's syntax: `/items/:item_id`. */
  readonly path: string
  readonly inputs: Inputs
  /** The media type of a good answer. */
  readonly produces: 'application/json' | 'text/html'
  run(values: Values<Inputs>, context: Context<SampleEnv>): unknown
}

/** All inputs of one role, also those of dependencies: an operation's own first, each dependency once. */
export function flatten(inputs: Inputs): [string, Exclude<Input, { role: 'dependency' }>][] {
  const own: [string, Exclude<Input, { role: 'dependency' }>][] = []
  const seen = new Set<unknown>()
  const visit = (level: Inputs): void => {
    const uses: Inputs[] = []
    for (const [key, input] of Object.entries(level)) {
      if (input.role !== 'dependency') own.push([key, input])
      else if (!seen.has(input.dependency)) {
        seen.add(input.dependency)
        uses.push(input.dependency.inputs)
      }
    }
    uses.forEach(visit)
  }
  visit(inputs)
  return own
}

/** The parameters of an operation with their names on the wire. */
export function parametersOf(inputs: Inputs): [string, Parameter<unknown>][] {
  return flatten(inputs).flatMap(([key, input]) =>
    input.role === 'parameter' ? [[wireName(key, input), input] as [string, Parameter<unknown>]] : [],
  )
}

/** The form fields of an operation, for the reader of the form. */
export function formFieldsOf(inputs: Inputs): FormFields {
  const fields = parametersOf(inputs).filter(([, { source }]) => source === 'form')
  return new Map(fields.map(([name, { kind }]) => [name, kind.takes === 'file' ? 'file' : 'text']))
}
