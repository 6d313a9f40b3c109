import * as v from 'valibot'
import { UploadFile } from '../form/upload-file.ts'
import type { Kind } from './kind.ts'
import type { ProblemType } from './problem.ts'

const uploadSchema = () => v.pipe(v.unknown(), v.instance(UploadFile, 'value_error' satisfies ProblemType))

/** An uploaded file; exists in multipart forms only. */
export const file: Kind<UploadFile> = {
  takes: 'file',
  fromText: uploadSchema,
  fromJson: uploadSchema,
  jsonSchema: () => ({ type: 'string', contentMediaType: 'application/octet-stream' }),
}
