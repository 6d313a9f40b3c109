import type { FormFields, FormValue } from './form-fields.ts'
import { parseHeaderValue } from './header-value.ts'
import { readMultipartForm } from './multipart-form.ts'
import { readUrlencodedForm } from './urlencoded-form.ts'

/** A form that has been read: the last value of each declared field. */
export class FormBody {
  readonly values: ReadonlyMap<string, FormValue>

  constructor(values: ReadonlyMap<string, FormValue>) {
    this.values = values
  }

  /** Closes every file of the form, which also removes what was spooled to disk. */
  async close(): Promise<void> {
    for (const value of this.values.values()) if (typeof value !== 'string') await value.close()
  }
}

/**
 * Reads a form from a body of type `application/x-www-form-urlencoded` or `multipart/form-data`. A body of another type
 * is a form without fields: what is required is then missing, never 415.
 * @throws 400 for broken data and beyond the limits
 */
export async function readForm(
  chunks: AsyncIterable<Uint8Array>,
  contentType: string,
  fields: FormFields,
): Promise<FormBody> {
  const { value: type, parameters } = parseHeaderValue(contentType)
  if (type === 'multipart/form-data') {
    return new FormBody(await readMultipartForm(chunks, parameters.get('boundary') ?? '', fields))
  }
  if (type === 'application/x-www-form-urlencoded') return new FormBody(await readUrlencodedForm(chunks, fields))
  return new FormBody(new Map())
}
