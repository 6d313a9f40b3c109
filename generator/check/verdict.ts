/** Thrown by a statement that is false; the message says what was seen. */
export class Wrong extends Error {
  override readonly name = 'Wrong'
}

/** Thrown by a statement that could not be tried; the message says why. */
export class Untried extends Error {
  override readonly name = 'Untried'
}

/** Ends a statement: it could not be tried. */
export function untried(why: string): never {
  throw new Untried(why)
}

/** Ends a statement: it is false, for what was seen. */
export function wrong(seen: string): never {
  throw new Wrong(seen)
}

/** Cuts a stranger's text to what a line of a report bears. */
export function short(text: string, most = 300): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}
