import { Sandbox } from '../../../generator/sandbox/sandbox.ts'
import type { Tasks } from '../../../generator/sandbox/tasks.ts'
import { tasks } from '../../../generator/sandbox/tasks.ts'
import { replaceRequests, type Storage } from './bucket.ts'
import { replaceClocks } from './clock.ts'
import { replaceConnections } from './postgres/connection.ts'
import type { Server } from './postgres/server.ts'
import { rememberStatements } from './postgres/statements.ts'

/** The world of simulated processes. */
export interface Outside {
  readonly server: Server
  readonly storage: Storage
}

/** Puts simulated processes into the world of `outside()`; returns a function that undoes it. */
export function replaceWorld(outside: () => Outside): () => void {
  const undo = [
    replaceClocks(),
    rememberStatements(),
    replaceConnections(() => outside().server),
    replaceRequests(() => outside().storage),
    replaceThreads(),
  ]
  return () => {
    for (const step of undo.reverse()) step()
  }
}

/** Has the tasks of the sandbox done here: when a thread answers is not up to the seed. */
function replaceThreads(): () => void {
  const { run } = Sandbox.prototype
  Sandbox.prototype.run = async (task, input) => {
    const work = (tasks as Tasks)[task] as (argument: typeof input) => Promise<never>
    return work(input)
  }
  return () => {
    Sandbox.prototype.run = run
  }
}
