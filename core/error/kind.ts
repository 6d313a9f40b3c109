/**
 * What sort of problem an objection is. The daemon maps kinds to statuses, the command line maps
 * them to exit codes; both tables must be complete to compile.
 */
export type Kind =
  | 'invalid'
  | 'misuse'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'incomplete'
  | 'timeout'
  | 'too_large'
  | 'too_many'
  | 'busy'
  | 'full'
  | 'failed'

/** Messages by kind and code: the user's words for what was wrong and what to do next. */
export type MessageTable = {
  readonly [K in Kind]?: Readonly<Record<string, (params: never) => string>>
}
