import type { MessageTable } from './kind.ts'

// biome-ignore format: a message is one line, which a search for its words shows with its code.
export const storageMessages = {
  busy: {
    bucket_unreachable: 'the object storage cannot be reached ({reason}); try again in a minute',
    bucket_foreign: 'what answers as the object storage is none ({reason}); see `storage.endpoint`, and whether a proxy or a portal answers in its place',
    mutex_lost: 'another process has been given the work on {path}; it is rendered again',
    cdn_unreachable: 'the CDN cannot be told what has changed ({reason}); trying again later',
  },
  misuse: {
    cdn_mixed: '`cdn.purge_url` and `cdn.purge_body` must both name addresses, or both keys',
  },
  failed: {
    cdn_refuses: 'the CDN refuses to purge what has changed (status {status}); see `cdn.purge_url` and `cdn.purge_headers`',
    bucket_refuses: 'the object storage refuses a request ({reason}); its operator can mend that',
    file_refused: '{path} is not in the object storage as it should be: {reason}',
    bucket_keys_missing: 'there are no keys for the object storage ({reason}); set `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or `AWS_PROFILE` for a profile in `~/.aws`, or give the machine or container a role',
    bucket_client_unusable: 'no request to the object storage can be made ({reason}); check the variables that begin with `AWS_`, the files in `~/.aws` and the `storage` settings',
  },
} as const satisfies MessageTable
