import { KEYS } from './signature.ts'

/** An S3 with one bucket, `test`, in path style. */
export interface TestS3 {
  readonly url: string
}

/** The environment of a program that keeps its crates there, or other parts by `settings`. */
export function environmentOf(
  { url }: TestS3,
  settings: Readonly<Record<string, string>> = { crates: 's3://test/crates' },
) {
  const named = Object.entries({ endpoint: url, region: 'eu-test-1', ...settings })
  return {
    AWS_ACCESS_KEY_ID: KEYS.id,
    AWS_SECRET_ACCESS_KEY: KEYS.secret,
    ...Object.fromEntries(
      named.map(([name, value]) => [`PLIMSOLL_STORAGE_${name.toUpperCase()}`, value]),
    ),
  }
}
