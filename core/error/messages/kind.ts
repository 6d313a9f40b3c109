// core/error/messages: The texts of all errors. Only the catalog reads them; no text decides what
// happens.

/**
 * The kind of a problem. The daemon maps kinds to HTTP statuses, the command line maps them to exit
 * codes; the compiler checks that both tables are complete.
 */
export type Kind =
  | 'invalid'
  | 'misuse'
  | 'denied'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'incomplete'
  | 'timeout'
  | 'unsupported'
  | 'unprocessable'
  | 'too_large'
  | 'too_many'
  | 'busy'
  | 'full'
  | 'failed'

/** A message with placeholders in braces, or a function if the wording depends on a value. */
export type Wording = string | ((params: never) => string)

/** Messages by kind and code. Each tells the user the problem and the next step. */
export type MessageTable = { readonly [K in Kind]?: Readonly<Record<string, Wording>> }
