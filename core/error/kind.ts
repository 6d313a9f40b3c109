/**
 * What sort of problem it is. The daemon maps kinds to statuses, the command line maps them to exit
 * codes; the compiler checks that both tables are complete.
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

/** A message with its values in braces, or a function where the wording depends on a value. */
export type Wording = string | ((params: never) => string)

/** Messages by kind and code. Each tells the user what was wrong and what to do next. */
export type MessageTable = { readonly [K in Kind]?: Readonly<Record<string, Wording>> }
