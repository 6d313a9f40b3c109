import type { Subject } from './subject.ts'

/** How bad it is if a statement is false, the worst first. */
export const WEIGHTS = ['breaks builds', 'breaks publishing', 'differs', 'could be better'] as const
export type Weight = (typeof WEIGHTS)[number]

/** Conditions of a statement: without them it is untried. */
export type Need = 'http' | 'public' | 'private' | 'git' | 'api' | 'write' | 'cargo'

/** One thing that a registry does if it is right. */
export interface Statement {
  readonly id: string
  readonly sentence: string
  /** The address of what demands it: Cargo's book, a file of its source, a thread. */
  readonly source: string
  readonly weight: Weight
  /** The first Cargo to which it matters, such as `1.96`; null for all. */
  readonly since: string | null
  readonly needs: readonly Need[]
  /** Throws `Wrong` if it is false, `Untried` if nobody can tell. */
  attempt(subject: Subject): Promise<unknown>
}
