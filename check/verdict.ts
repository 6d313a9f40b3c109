/** Thrown by a statement that is false; the message says what was seen. */
export class Wrong extends Error {}

/** Thrown by a statement that could not be tried; the message says why. */
export class Untried extends Error {}

/** Ends a statement: it could not be tried. */
export function untried(why: string): never {
  throw new Untried(why)
}

/** Ends a statement: it is false, for what was seen, of which a report bears a part. */
export function wrong(seen: string, most = 300): never {
  throw new Wrong(seen.length > most ? `${seen.slice(0, most)}…` : seen)
}
