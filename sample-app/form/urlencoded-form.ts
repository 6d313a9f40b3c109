import { decodeForm } from '../wire/percent.ts'
import { refusal } from '../wire/response.ts'
import type { FormFields } from './form-fields.ts'
import { HEADER_LIMIT, PART_LIMIT, VALUE_LIMIT } from './limits.ts'

/**
 * Reads an urlencoded form field by field. Holds one field at a time plus the last value of each declared one, however
 * long the body is.
 * @throws 400 for more than 1000 fields or a field beyond 1 MiB
 */
export async function readUrlencodedForm(
  chunks: AsyncIterable<Uint8Array>,
  fields: FormFields,
): Promise<Map<string, string>> {
  const values = new Map<string, string>()
  let count = 0
  for await (const pair of splitFields(chunks)) {
    count += 1
    if (count > PART_LIMIT) throw refusal(400, `Too many fields. Maximum number of fields is ${PART_LIMIT}.`)
    const equals = pair.indexOf('=')
    const name = equals === -1 ? pair : pair.slice(0, equals)
    const value = equals === -1 ? '' : pair.slice(equals + 1)
    if (name.length > HEADER_LIMIT || value.length > VALUE_LIMIT) throw tooLong()
    if (fields.has(decodeForm(name))) values.set(decodeForm(name), decodeForm(value))
  }
  return values
}

async function* splitFields(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: string[] = []
  let length = 0
  for await (const chunk of chunks) {
    const [head = '', ...more] = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1').split('&')
    rest.push(head)
    length += head.length
    if (length > HEADER_LIMIT + 1 + VALUE_LIMIT) throw tooLong()
    for (const next of more) {
      const field = rest.join('')
      if (field !== '') yield field
      rest = [next]
      length = next.length
    }
  }
  const last = rest.join('')
  if (last !== '') yield last
}

function tooLong() {
  return refusal(400, `Field exceeded maximum size of ${VALUE_LIMIT / 1024}KB.`)
}
