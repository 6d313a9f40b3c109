/** The constraints a value can be declared with; which of them apply depends on its kind. */
export interface Rules {
  /** Text: the fewest and the most Unicode code points. */
  readonly min_length?: number
  readonly max_length?: number
  /** Text: a regular expression that must be found somewhere in it; anchor it to mean all of it. */
  readonly pattern?: string
  /** Numbers: at least, more than, at most, less than. */
  readonly ge?: number
  readonly gt?: number
  readonly le?: number
  readonly lt?: number
}

/** How a value is declared, besides its kind. */
export interface Declaration extends Rules {
  /** The name on the wire, where it differs from the one in the program. */
  readonly alias?: string
  /** The name in the documentation. */
  readonly title?: string
  readonly deprecated?: boolean
  /** Headers: a second name, read when there is no header of the first. */
  readonly also_read?: string
}
