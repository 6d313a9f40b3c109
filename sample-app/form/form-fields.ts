import type { UploadFile } from './upload-file.ts'

/** The declared fields of a form, and what each may be; the rest of a form is skipped without being kept. */
export type FormFields = ReadonlyMap<string, 'text' | 'file'>

/** One value of a form: text, or a file. */
export type FormValue = string | UploadFile
