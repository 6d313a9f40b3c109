import type { Kind } from './kind.ts'

/** One setting: what it takes, its default under each preset, and what it is for. */
export interface Row<T> {
  readonly kind: Kind<T>
  readonly private: T
  readonly public: T
  readonly about: string
  /** What the commented settings file shows, for the few keys it explains. */
  readonly sample?: T
}

export type Rows = Readonly<Record<string, Row<never>>>

/** The values that rows describe. */
export type Values<R> = { readonly [K in keyof R]: R[K] extends Row<infer T> ? T : never }

/** A setting whose default is the same under both presets. */
export function row<T>(kind: Kind<T>, fallback: NoInfer<T>, about: string): Row<T> {
  return { kind, private: fallback, public: fallback, about }
}

/** A setting that the commented settings file explains, there shown as `sample`. */
export function mainRow<T>(
  kind: Kind<T>,
  fallback: NoInfer<T>,
  sample: NoInfer<T>,
  about: string,
): Row<T> {
  return { ...row<T>(kind, fallback, about), sample }
}

/** A setting whose default depends on `policy.preset`. */
export function presetRow<T>(
  kind: Kind<T>,
  inPrivate: NoInfer<T>,
  inPublic: NoInfer<T>,
  about: string,
): Row<T> {
  return { kind, private: inPrivate, public: inPublic, about }
}
