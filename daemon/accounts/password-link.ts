import type { Registry } from '../../generator/index.ts'

/** The address of a one-time link. */
export function passwordLinkOf({ urls }: Registry, secret: string): string {
  return `${urls.base}/me/password?link=${secret}`
}
