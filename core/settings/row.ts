import type { Kind } from './kind.ts'

/** One setting: what it accepts and its default under each preset. docs/settings.md describes it. */
export interface Row<T> {
  readonly kind: Kind<T>
  readonly private: T
  readonly public: T
  /** How a new `plimsoll.toml` shows and explains it; for the main settings only. */
  readonly main?: { readonly sample: T; readonly about: string }
}

export type Rows = Readonly<Record<string, Row<never>>>

/** The values that rows describe. */
export type Values<R> = { readonly [K in keyof R]: R[K] extends Row<infer T> ? T : never }

/** A setting; with two defaults, `policy.preset` decides. */
export function row<T>(
  kind: Kind<T>,
  inPrivate: NoInfer<T>,
  inPublic: NoInfer<T> = inPrivate,
): Row<T> {
  return { kind, private: inPrivate, public: inPublic }
}

/** A main setting: a new `plimsoll.toml` explains it and shows `sample`. */
export function mainRow<T>(
  kind: Kind<T>,
  fallback: NoInfer<T>,
  sample: NoInfer<T>,
  about: string,
): Row<T> {
  return { kind, private: fallback, public: fallback, main: { sample, about } }
}
